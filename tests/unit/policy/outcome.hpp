#pragma once
#include "lib/policy/compile.hpp"

#include <optional>
#include <utility>
#include <vector>

namespace sluice::test {

// What becomes of a rule file.
struct Outcome {
    std::optional<CompiledRules> rules;
    std::vector<Problem> problems;
};
inline Outcome compile(const RuleText& source, Purpose purpose = Purpose::Enforce,
                       const ModeOverrides& modes = {}) {
    Problems problems{std::string{source.file}};
    std::optional<CompiledRules> rules = compile_rules(source, purpose, modes, problems);
    return {std::move(rules), problems.list()};
}

}  // namespace sluice::test
