#pragma once
#include "lib/policy/values/value_range.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace sluice {

template <typename Number>
[[nodiscard]] constexpr bool touches(Number last, Number first) noexcept {
    return first <= last || first - 1 == last;
}
[[nodiscard]] bool touches(const IpAddress& last, const IpAddress& first) noexcept;

// Ranges sorted by their first values become one range where they touch.
template <typename Range>
[[nodiscard]] std::vector<Range> merged(const std::vector<Range>& sorted) {
    std::vector<Range> ranges;
    for (const Range& range : sorted) {
        if (!ranges.empty() && touches(ranges.back().last, range.first)) {
            ranges.back().last = std::max(ranges.back().last, range.last);
        } else {
            ranges.push_back(range);
        }
    }
    return ranges;
}

// Sorts and merges.
template <typename Range>
void normalise(std::vector<Range>& ranges) {
    std::sort(ranges.begin(), ranges.end(),
              [](const Range& a, const Range& b) { return a.first < b.first; });
    ranges = merged(ranges);
}

// All numbers up to `max` that are not in `ranges` (normalised).
template <typename Range, typename Number>
[[nodiscard]] std::vector<Range> complement(const std::vector<Range>& ranges, Number max) {
    std::vector<Range> rest;
    Number first = 0;
    for (const Range& range : ranges) {
        if (range.first > first) {
            rest.push_back({first, range.first - 1});
        }
        if (range.last >= max) {
            return rest;
        }
        first = range.last + 1;
    }
    rest.push_back({first, max});
    return rest;
}

// The first of the ranges (normalised) that begins or ends inside a network of this length;
// nullptr: each is made of whole ones.
[[nodiscard]] const AddressRange* first_finer(IpVersion version,
                                              const std::vector<AddressRange>& ranges,
                                              std::uint8_t length);

// All addresses of a prefix.
[[nodiscard]] AddressRange range_of(const IpPrefix& prefix);

}  // namespace sluice
