#pragma once
#include "lib/packet/text_name.hpp"
#include "lib/policy/clauses/clause.hpp"

#include <optional>
#include <span>
#include <string>

// Clauses that no packet satisfies: ports of ICMP, a flag of TCP over UDP, an address of IPv6 in
// IPv4. What is not known for sure counts as possible.
namespace sluice {

// Why no packet satisfies any of the clauses, of which there is one at least; nullopt: some may.
[[nodiscard]] std::optional<std::string> find_contradiction(std::span<const Clause> clauses,
                                                            SetPool& pool, const TextNames& names);

// The condition with each list in it as one that may hold anything, or nothing: what never holds
// of that hangs on no list's file. nullopt: there are no lists in it.
[[nodiscard]] std::optional<Expression> with_any_lists(const Expression& tree);

}  // namespace sluice
