#pragma once
#include "lib/policy/clauses/clause.hpp"

#include <cstddef>

// Tests of texts that exclude each other: a text is one value, which equals "a" or "b", begins with
// one of two beginnings, is one number. What is not known for sure counts as possible.
namespace sluice {

// Entries of the clauses of one condition that are compared, at most; beyond, all is possible.
inline constexpr std::size_t kMostTextComparisons = 1'000'000;

// True if no text satisfies all tests that the clause makes of one of its fields. `budget` is what
// is left of kMostTextComparisons.
[[nodiscard]] bool texts_contradict(const Clause& clause, const SetPool& pool, std::size_t& budget);

}  // namespace sluice
