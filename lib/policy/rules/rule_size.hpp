#pragma once
#include "lib/rules/rule_set.hpp"

#include <cstdint>

namespace sluice {

struct CompiledRules;

// Bytes of a rule with its overrides, without its condition.
[[nodiscard]] std::uint64_t size_of(const Rule& rule);

// Adds to each summary's memory its rule's part of the compiled conditions, by its clauses.
void share_classifier_memory(CompiledRules& compiled);

}  // namespace sluice
