#pragma once
#include "lib/match/program.hpp"
#include "lib/policy/expression.hpp"

#include <cstddef>
#include <optional>

namespace sluice {

// More tests than this in one rule are refused.
inline constexpr std::size_t kMaxTestsPerRule = 4096;

// Appends a condition's tests and constants to the program. nullopt: more than kMaxTestsPerRule.
[[nodiscard]] std::optional<Condition> append_condition(const Expression& tree, Program& program);

// Whether no packet at all can satisfy the tree. Sound, not complete: true is certain, false is
// not.
[[nodiscard]] bool can_never_match(const Expression& tree);

}  // namespace sluice
