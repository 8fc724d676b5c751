#include "control/daemon/rule_compile.hpp"

#include "control/daemon/act_as.hpp"
#include "control/list_folder.hpp"
#include "lib/policy/overrides/override_cache.hpp"
#include "lib/policy/texts/pattern_compiler.hpp"

namespace sluice {

Result<ListFile> read_list(const StoredRules& rules, const std::string& path) {
    if (rules.directory.empty() && !path.starts_with('/')) {
        return Error{Errc::Unreachable, "cannot read " + path +
                                            ": sluiced was not told the rule file's "
                                            "folder (`directory=`)"};
    }
    const ActAs applicant{rules.applied_by};
    if (!applicant.works()) {
        return Error{Errc::Unreachable, "cannot read " + path + " with the rights of uid " +
                                            std::to_string(rules.applied_by) +
                                            ": sluiced does not run as root"};
    }
    return read_list_file(rules.directory, path);
}

PatternCache& pattern_cache() {
    static PatternCache cache;
    return cache;
}

OverrideCache& override_cache() {
    static OverrideCache cache;
    return cache;
}

std::stop_source& compile_stop() {
    static std::stop_source stop;
    return stop;
}

Compiled compile(StoredRules& rules, const RssMapping& box) {
    Problems problems{rules.file, compile_stop().get_token()};
    const ListReader lists = [&rules](const std::string& path) -> Result<ListFile> {
        const auto kept = rules.lists.find(path);
        if (kept != rules.lists.end()) {
            return ListFile{list_path(rules.directory, path), kept->second};
        }
        Result<ListFile> fresh = read_list(rules, path);
        if (fresh) {
            rules.lists[path] = fresh->text;
        }
        return fresh;
    };
    std::optional<CompiledRules> compiled = compile_rules(
        {rules.file, rules.text, &lists, &pattern_cache(), &rules.keys, &box, &override_cache()},
        Purpose::Enforce, modes_in_force(rules.modes, rules.lives), problems);
    return {std::move(compiled), problems.list()};
}

// Only the rules themselves say which of them have a ttl, so that this may take two times.
Compiled compile_at(StoredRules& rules, std::int64_t now, const RssMapping& box) {
    Compiled compiled = compile(rules, box);
    if (!compiled.rules) {
        return compiled;
    }
    const RuleLives before = std::move(rules.lives);
    rules.lives = renewed(before, compiled.rules->rules, now);
    return same_ends(compiled.rules->rules, before, rules.lives) ? std::move(compiled)
                                                                 : compile(rules, box);
}

}  // namespace sluice
