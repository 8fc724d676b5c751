#pragma once
#include "lib/match/text_parts.hpp"
#include "lib/policy/clauses/clause_order.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>

namespace sluice {

// The tests of texts of the clauses, in their last order; the databases are still missing. Rules
// that are off contribute nothing.
[[nodiscard]] TextParts text_parts_of(std::span<const RuleClause> clauses, const TextPool& pool);

// The bound that the texts exceed, in words; nullopt: none.
[[nodiscard]] std::optional<std::string> find_excess(const TextParts& parts);

// The byte at which the expression names an entry; nullopt: nowhere.
[[nodiscard]] std::optional<std::size_t> place_of(const TextEntry& entry, const Expression& tree);

}  // namespace sluice
