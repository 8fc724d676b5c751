#pragma once
#include "lib/match/classifier_parts.hpp"
#include "lib/rules/rule_set.hpp"

#include <cstddef>
#include <cstdint>

namespace sluice {

// Parts that the classifiers of a set are made from: of its rules, and of its services.
struct ClassifiersParts {
    const ClassifierParts& rules;
    const ClassifierParts& services;
};

// The most bytes that are allocated, beside the set and the parts of its classifiers, until so
// many workers judge by it: its classifiers, then LoadedRules::make(), and once more
// LoadedRules::again(), which keys that move ask for later. Like lib/match/memory_bound.
[[nodiscard]] std::uint64_t memory_bound(const RuleSet& set, const ClassifiersParts& parts,
                                         std::size_t workers);

// The same of what was given out before, so many limits that still have a slot: each is noted
// again beside the new ones.
[[nodiscard]] std::uint64_t memory_bound_of_former(std::size_t limits);

}  // namespace sluice
