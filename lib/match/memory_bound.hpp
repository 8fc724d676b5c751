#pragma once
#include "lib/match/address_set.hpp"
#include "lib/match/classifier_parts.hpp"
#include "lib/match/geo_parts.hpp"
#include "lib/match/public_suffixes.hpp"

#include <cstdint>

// How many bytes are allocated at most, beside the parts themselves, while tables are made from
// them; as a bound, three to six times what most sets take. An allocation that fails ends the
// process, so LoadedRules are made only once this bound is known to fit the available memory.
namespace sluice {

// A vector that grows holds its items twice or, for a moment, three times.
inline constexpr std::uint64_t kGrowth = 3;

// Classifier{parts}, with fast look-ups.
[[nodiscard]] std::uint64_t memory_bound(const ClassifierParts& parts);
// TextScratch::make() of that classifier's texts.
[[nodiscard]] std::uint64_t scratch_bound(const TextParts& parts);
// GeoTable::make().
[[nodiscard]] std::uint64_t memory_bound(const GeoParts& parts);
// AddressTables of so many steps of either version, whatever their rows.
[[nodiscard]] std::uint64_t memory_bound_of_tables(std::uint64_t v4_steps, std::uint64_t v6_steps);
// AddressSet{parts}.
[[nodiscard]] std::uint64_t memory_bound(const AddressSetParts& parts);
// The same for PublicSuffixes.
[[nodiscard]] std::uint64_t memory_bound(const std::vector<SuffixRule>& rules);

}  // namespace sluice
