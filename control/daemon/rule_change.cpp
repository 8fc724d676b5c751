#include "control/daemon/rule_change.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sluice {

std::string generation_text(std::uint64_t generation) {
    return fmt::format("{:016x}", generation);
}

Refusal does_not_compile(std::vector<Problem> problems) {
    const auto errors = std::count_if(problems.begin(), problems.end(), [](const Problem& problem) {
        return problem.severity == Severity::Error;
    });
    return {Refusal::Kind::DoesNotCompile,
            errors == 1 ? "there is an error" : std::to_string(errors) + " errors",
            std::move(problems)};
}

RuleChange refused(std::uint64_t generation, Refusal refusal) {
    RuleChange change;
    change.before = generation;
    change.refusal = std::move(refusal);
    return change;
}

}  // namespace sluice
