#pragma once
#include "lib/match/classifier_parts.hpp"
#include "lib/policy/clauses/clause_order.hpp"

#include <optional>
#include <vector>

namespace sluice {

// The compiled form takes no more bytes than this, and neither does its message: a list of a
// million IPv6 prefixes, 2 million steps of 32 bytes, for source and destination, and as much for
// everything else.
inline constexpr std::size_t kMaxCompiledSize = std::size_t{192} << 20;

// All clauses of a rule set, compiled, but for the databases of patterns. nullopt: it would take
// more than `most` bytes.
[[nodiscard]] std::optional<ClassifierParts> compile_clauses(std::vector<RuleClause> clauses,
                                                             const SetPool& pool,
                                                             std::size_t most = kMaxCompiledSize);

}  // namespace sluice
