#include "control/daemon/rule_compile.hpp"

namespace sluice {

Compiled compile(const StoredRules& rules) {
    Problems problems{rules.file};
    std::optional<CompiledRules> compiled =
        compile_rules({rules.file, rules.text}, Purpose::Enforce,
                      modes_in_force(rules.modes, rules.lives), problems);
    return {std::move(compiled), problems.list()};
}

// Only the rules themselves say which of them have a ttl, so that this may take two times.
Compiled compile_at(StoredRules& rules, std::int64_t now) {
    Compiled compiled = compile(rules);
    if (!compiled.rules) {
        return compiled;
    }
    const RuleLives before = std::move(rules.lives);
    rules.lives = renewed(before, compiled.rules->rules, now);
    return same_ends(compiled.rules->rules, before, rules.lives) ? std::move(compiled)
                                                                 : compile(rules);
}

}  // namespace sluice
