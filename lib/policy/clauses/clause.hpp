#pragma once
#include "lib/policy/clauses/set_pool.hpp"
#include "lib/policy/expression/expression.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace sluice {

struct ClauseTerm {
    Field field{};
    SetId set = 0;

    [[nodiscard]] auto operator<=>(const ClauseTerm&) const noexcept = default;
};
struct TextTerm {
    TextTestId test = 0;
    bool negated = false;

    [[nodiscard]] auto operator<=>(const TextTerm&) const noexcept = default;
};

// A conjunction: every field has a value of its set, and every test of a text holds, or does not
// where it is negated. No set is empty or everything. None at all: every packet.
struct Clause {
    std::vector<ClauseTerm> fields;  // sorted by field, each field once
    std::vector<TextTerm> texts;     // sorted by test, each test once

    [[nodiscard]] bool empty() const noexcept { return fields.empty() && texts.empty(); }
    [[nodiscard]] std::size_t size() const noexcept { return fields.size() + texts.size(); }
};

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
