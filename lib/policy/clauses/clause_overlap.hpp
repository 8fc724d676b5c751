#pragma once
#include "lib/policy/clauses/clause.hpp"

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace sluice {

// Tells whether one packet may satisfy clauses of two rules. No is certain: their sets for some
// field are disjoint, or one negates a test of the other. Yes may be wrong: dependencies between
// fields are not known here.
class ClauseOverlap {
public:
    explicit ClauseOverlap(const SetPool& pool) noexcept : pool_{pool} {}

    // Yes too when the budget of comparisons is used up.
    [[nodiscard]] bool may_meet(const std::vector<Clause>& a, const std::vector<Clause>& b);

private:
    // Pairs of clauses compared, at most: some tenths of a second.
    static constexpr std::size_t kMostLooks = 4'000'000;

    [[nodiscard]] bool one_may_meet(const Clause& a, const Clause& b);
    [[nodiscard]] bool have_common(SetId a, SetId b);

    const SetPool& pool_;
    std::unordered_map<std::uint64_t, bool> common_;  // of pairs of large sets
    std::size_t looks_ = 0;
};

// True if two sets of one field have a value in common, or absence.
[[nodiscard]] bool have_common(const DomainSet& a, const DomainSet& b) noexcept;

}  // namespace sluice
