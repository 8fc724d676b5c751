#pragma once
#include "lib/policy/compile.hpp"
#include "lib/rules/load_overrides.hpp"
#include "lib/rules/origins.hpp"

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

namespace sluice::test {

// Under which boxes of tests hash their keys.
inline constexpr HashSecret kBoxSecret{1, 2};

// Rules that a box enforces, from a text that must be right: throws its first problem.
inline CompiledRules enforced(const RuleText& source) {
    Problems problems{std::string{source.file}};
    std::optional<CompiledRules> compiled = compile_rules(source, Purpose::Enforce, {}, problems);
    if (!compiled) {
        throw std::runtime_error(render(problems.list().front(), source.text));
    }
    return *std::move(compiled);
}

// The same as a dataplane gets it ready: all but what depends on its workers and their tables.
// `before`: the set that it takes the place of.
inline CompiledRules ready_rules(const RuleText& source, const RuleSet* before = nullptr) {
    CompiledRules compiled = enforced(source);
    for (std::uint32_t row = 0; Rule & rule : compiled.set.rules) {
        rule.counters = row++;
    }
    compiled.set.classifier.make_fast();
    (void)map_origins(compiled.set, before);
    load_overrides(compiled.set, kBoxSecret);
    return compiled;
}

}  // namespace sluice::test
