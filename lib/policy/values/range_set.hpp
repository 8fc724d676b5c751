#pragma once
#include "lib/policy/values/value_range.hpp"

#include <cstdint>
#include <vector>

namespace sluice {

// Sorts and merges; what touches becomes one range.
void normalise(std::vector<NumberRange>& ranges);
void normalise(std::vector<AddressRange>& ranges);

// All values up to `max` that are not in `ranges` (normalised).
[[nodiscard]] std::vector<NumberRange> complement(const std::vector<NumberRange>& ranges,
                                                  std::uint64_t max);

// The first of the ranges (normalised) that begins or ends inside a network of this length;
// nullptr: each is made of whole ones.
[[nodiscard]] const AddressRange* first_finer(IpVersion version,
                                              const std::vector<AddressRange>& ranges,
                                              std::uint8_t length);

// All addresses of a prefix.
[[nodiscard]] AddressRange range_of(const IpPrefix& prefix);

}  // namespace sluice
