#include "control/daemon/rule_compile.hpp"

#include "control/daemon/act_as.hpp"
#include "control/daemon/tenant_compile.hpp"
#include "control/list_folder.hpp"
#include "lib/base/memory_room.hpp"
#include "lib/base/system_user.hpp"
#include "lib/policy/compile_memory.hpp"
#include "lib/policy/domains/suffix_file.hpp"
#include "lib/policy/domains/suffix_list.hpp"
#include "lib/policy/overrides/override_cache.hpp"

#include <filesystem>

#include <sys/stat.h>
#include <unistd.h>

namespace sluice {
namespace {

constexpr const char* kSendThem = "; `--send-lists` sends lists along, which are not watched then";

std::string our_name() {
    const std::optional<SystemUser> user = user_of(::geteuid());
    return user ? user->name : "uid " + std::to_string(::geteuid());
}

// Reads its mode and that of all folders above: nobody learns by sluiced what is closed to them.
bool everybody_may_read(const std::string& path) {
    std::error_code error;
    const std::filesystem::path whole = std::filesystem::canonical(path, error);
    struct stat info{};
    if (error || ::stat(whole.c_str(), &info) != 0 || (info.st_mode & S_IROTH) == 0) {
        return false;
    }
    for (std::filesystem::path folder = whole.parent_path();; folder = folder.parent_path()) {
        if (::stat(folder.c_str(), &info) != 0 || (info.st_mode & S_IXOTH) == 0) {
            return false;
        }
        if (folder == folder.parent_path()) {
            return true;
        }
    }
}

// Forgets lists that were sent along.
void forget_what_nobody_asked_for(StoredRules& rules, const std::set<std::string>& asked) {
    std::erase_if(rules.sent, [&](const std::string& path) {
        const bool unasked = !asked.contains(path);
        if (unasked) {
            rules.lists.erase(path);
        }
        return unasked;
    });
}

// The list as it is kept, or read anew.
Result<ListFile> list_of(StoredRules& rules, const std::string& path) {
    const auto kept = rules.lists.find(path);
    if (kept != rules.lists.end()) {
        return ListFile{list_path(rules.directory, path), kept->second};
    }
    if (rules.sent.contains(path)) {
        return Error{Errc::Unreachable,
                     "the copy of " + path + " that was sent along is gone: apply it again"};
    }
    Result<ListFile> fresh = read_list(rules, path);
    if (fresh) {
        rules.lists[path] = fresh->text;
    }
    return fresh;
}

// nullopt: there is room to compile them.
std::optional<std::string> no_memory_for(std::size_t rule_bytes, std::size_t list_bytes) {
    const std::uint64_t needed = compile_memory(rule_bytes, list_bytes);
    const std::uint64_t there_are = available_memory();
    if (needed <= there_are) {
        return std::nullopt;
    }
    return "to compile the rules may need " + std::to_string((needed >> 20) + 1) +
           " MiB of memory, and " + std::to_string(there_are >> 20) +
           " MiB are available to sluiced";
}

}  // namespace

Result<ListFile> read_list(const StoredRules& rules, const std::string& path) {
    if (rules.directory.empty() && !path.starts_with('/')) {
        return Error{Errc::Unreachable, "cannot read " + path +
                                            ": sluiced was not told the rule file's "
                                            "folder (`directory=`)"};
    }
    const ActAs applicant{rules.applied_by};
    if (!applicant.works() && !everybody_may_read(list_path(rules.directory, path))) {
        return Error{Errc::Unreachable,
                     "cannot read " + path + " with the rights of uid " +
                         std::to_string(rules.applied_by) + ": sluiced runs as " + our_name() +
                         ", and reads for others what everybody may read" + kSendThem};
    }
    Result<ListFile> file = read_list_file(rules.directory, path);
    if (!file && ::geteuid() != 0) {
        return Error{file.error().code, file.error().what + "; sluiced runs as " + our_name() +
                                            ", which must be able to read what it watches" +
                                            kSendThem};
    }
    return file;
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

std::vector<std::string>& notify_targets() {
    static std::vector<std::string> names;
    return names;
}

namespace {

constexpr const char* kNoRoom = "together with the other rules of the box they do not compile";

using ListSource = Result<ListFile> (*)(StoredRules& rules, const std::string& path);

// Sources that a set is compiled with: its lists, and what was compiled and read before.
struct CompileSources {
    ListSource list;
    PatternCache& patterns;
    OverrideCache& overrides;
};

// The list as the set has it. Of no other file is anything said, not even that it is there.
Result<ListFile> known_list(StoredRules& rules, const std::string& path) {
    const auto kept = rules.lists.find(path);
    if (kept != rules.lists.end()) {
        return ListFile{list_path(rules.directory, path), kept->second};
    }
    if (path == kSuffixListFile) {
        return list_of(rules, path);
    }
    return Error{Errc::Unreachable, "the rules in force read no file " + path +
                                        ", and a draft reads none by itself: apply it to have it "
                                        "read"};
}

// How a set is compiled, and without whom.
struct CompileTerms {
    const CompileSources& sources;
    const RssMapping& box;
    const UnknownWebhook& webhooks;
    std::string_view only{};  // as RuleText has it
};

// Warnings of the texts of tenants, who were told them, are no operator's. Files are told apart by
// their names; one of an operator's that is called like a tenant keeps its own.
void forget_problems_of_tenants(std::vector<Problem>& problems,
                                const std::vector<RuleFilePart>& parts) {
    const auto has = [&](const Problem& problem, bool of_tenant) {
        return std::ranges::any_of(parts, [&](const RuleFilePart& part) {
            return (part.tenant != nullptr) == of_tenant && problem.file == part.file;
        });
    };
    std::erase_if(problems, [&](const Problem& problem) {
        return has(problem, true) && !has(problem, false);
    });
}

Compiled compile_without(const TenantsAside& aside, StoredRules& rules, const CompileTerms& terms) {
    const auto& [sources, box, webhooks, only] = terms;
    Problems problems{rules.file, compile_stop().get_token()};
    if (const std::optional<std::string> why = no_memory_for(rules.text.size(), 0)) {
        problems.error({}, *why);
        return {std::nullopt, problems.list(), true};
    }
    std::set<std::string> asked;
    std::size_t list_bytes = 0;
    bool no_memory = false;
    const ListReader lists = [&](const std::string& path) -> Result<ListFile> {
        const bool is_first = asked.insert(path).second;
        Result<ListFile> file = sources.list(rules, path);
        // A text that several rules name is held once.
        if (file && is_first) {
            list_bytes += file->text->size();
            if (const std::optional<std::string> why = no_memory_for(0, list_bytes)) {
                no_memory = true;
                return Error{Errc::TooMany, *why};
            }
        }
        return file;
    };
    const std::vector<RuleFilePart> parts = joint_parts(rules, aside);
    const NotifyTargets targets{notify_targets(), webhooks.is_refused, webhooks.of};
    std::optional<CompiledRules> compiled =
        compile_rules({rules.file, rules.text, &lists, &sources.patterns, &rules.keys, &box,
                       &sources.overrides, parts, &targets, only},
                      Purpose::Enforce, modes_in_force(rules.modes, rules.lives), problems);
    if (compiled) {
        forget_what_nobody_asked_for(rules, asked);
    }
    no_memory = no_memory && !compiled;
    std::vector<Problem> found = problems.list();
    if (compiled) {
        compiled->aside = aside;
        forget_problems_of_tenants(found, parts);
    }
    return {std::move(compiled), std::move(found), no_memory};
}

// The operator's set compiles, and with all its tenants it does not: each stands aside with whom it
// does not, in the order of their names.
Compiled compile_one_by_one(TenantsAside aside, Compiled alone, StoredRules& rules,
                            const CompileTerms& terms) {
    TenantsAside to_come;
    for (const auto& [name, own] : rules.tenants) {
        if (!own.text.empty() && aside.emplace(name, kNoRoom).second) {
            to_come.emplace(name, kNoRoom);
        }
    }
    for (const auto& [name, why] : to_come) {
        aside.erase(name);
        Compiled with = compile_without(aside, rules, terms);
        if (with.rules || with.no_memory || compile_stop().stop_requested()) {
            alone = std::move(with);
        } else {
            aside.emplace(name, why);
        }
    }
    if (alone.rules) {
        alone.rules->aside = std::move(aside);
    }
    return alone;
}

Compiled compile_with(const CompileSources& sources, StoredRules& rules, const RssMapping& box,
                      const UnknownWebhook& webhooks) {
    const CompileTerms terms{sources, box, webhooks};
    TenantsAside aside = unfit_tenants(rules.tenants, box);
    Compiled joint = compile_without(aside, rules, terms);
    if (joint.rules || joint.no_memory ||
        joint_parts(rules, aside).size() == parts_of(rules).size()) {
        return joint;
    }
    TenantsAside all = aside;
    for (const auto& [name, own] : rules.tenants) {
        all.emplace(name, kNoRoom);
    }
    Compiled alone = compile_without(all, rules, terms);
    return alone.rules ? compile_one_by_one(std::move(aside), std::move(alone), rules, terms)
                       : alone;
}

}  // namespace

Compiled compile(StoredRules& rules, const RssMapping& box, const UnknownWebhook& webhooks) {
    return compile_with({list_of, pattern_cache(), override_cache()}, rules, box, webhooks);
}

Compiled compile_draft(StoredRules& rules, const RssMapping& box, const UnknownWebhook& webhooks) {
    static PatternCache patterns{pattern_cache()};
    static OverrideCache overrides{override_cache()};
    return compile_with({known_list, patterns, overrides}, rules, box, webhooks);
}

Compiled compile_alone(StoredRules& rules, const RssMapping& box, const std::string& id) {
    static PatternCache patterns{pattern_cache()};
    static OverrideCache overrides{override_cache()};
    TenantsAside all;
    for (const auto& [name, own] : rules.tenants) {
        all.emplace(name, kNoRoom);
    }
    return compile_without(all, rules, {{known_list, patterns, overrides}, box, {}, id});
}

// Only the rules themselves say which of them have a ttl, so that this may take two times.
Compiled compile_at(StoredRules& rules, std::int64_t now, const RssMapping& box,
                    const UnknownWebhook& webhooks) {
    Compiled compiled = compile(rules, box, webhooks);
    if (!compiled.rules) {
        return compiled;
    }
    const RuleLives before = std::move(rules.lives);
    rules.lives = renewed(before, compiled.rules->rules, now, compiled.rules->aside);
    return same_ends(compiled.rules->rules, before, rules.lives) ? std::move(compiled)
                                                                 : compile(rules, box, webhooks);
}

}  // namespace sluice
