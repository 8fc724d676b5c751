#pragma once
#include "lib/policy/clauses/set_pool.hpp"
#include "lib/policy/expression.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace sluice {

// A conjunction: every field named has what its set asks for. No set is empty or everything. None
// at all: every packet.
struct ClauseTerm {
    Field field{};
    SetId set = 0;

    [[nodiscard]] auto operator<=>(const ClauseTerm&) const noexcept = default;
};
using Clause = std::vector<ClauseTerm>;  // sorted by field, each field once

// More clauses than these in one rule are refused.
inline constexpr std::size_t kMaxClausesPerRule = 1024;

// The tree as an `or` of clauses; none: no packet. Comparisons of one field become one set, a
// clause that another contains is left out, and two that differ in one field are one. nullopt:
// there would be too many.
[[nodiscard]] std::optional<std::vector<Clause>> clauses_of(const Expression& tree, SetPool& pool);

// How many clauses the tree makes when it is only multiplied out; what is beyond 64 bits is
// UINT64_MAX.
[[nodiscard]] std::uint64_t count_when_multiplied_out(const Expression& tree);

}  // namespace sluice
