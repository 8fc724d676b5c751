#pragma once
#include "lib/policy/compile.hpp"
#include "lib/rules/load/loaded_rules.hpp"

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

// Rules that must fit, loaded: throws why they do not.
inline LoadedRules loaded(RuleSet set, const Environment& environment) {
    Result<LoadedRules> rules = LoadedRules::make(std::move(set), environment);
    if (!rules) {
        throw std::runtime_error(rules.error().what);
    }
    return *std::move(rules);
}

// What tables in which no entry has ended, or been rewritten, say.
inline TableView full_tables() {
    return {[](LimitSlot) { return std::uint64_t{1}; }, [] { return std::uint64_t{0}; }};
}

}  // namespace sluice::test
