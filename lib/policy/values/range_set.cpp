#include "lib/policy/values/range_set.hpp"

#include "lib/base/wide.hpp"
#include "lib/match/address_key.hpp"

#include <algorithm>
#include <limits>

namespace sluice {
namespace {

bool touches(std::uint64_t last, std::uint64_t first) noexcept {
    return last == std::numeric_limits<std::uint64_t>::max() || first <= last + 1;
}

// The address after this one; all ones stay.
IpAddress next(IpAddress address) noexcept {
    for (std::size_t i = address.bytes.size(); i-- > 0;) {
        const auto value = std::to_integer<unsigned>(address.bytes[i]);
        address.bytes[i] = static_cast<std::byte>(value + 1);
        if (value != 0xFF) {
            return address;
        }
    }
    address.bytes.fill(std::byte{0xFF});
    return address;
}

bool touches(const IpAddress& last, const IpAddress& first) noexcept {
    return first <= next(last);
}

template <typename Range>
void sort_and_merge(std::vector<Range>& ranges) {
    std::sort(ranges.begin(), ranges.end(),
              [](const Range& a, const Range& b) { return a.first < b.first; });
    std::vector<Range> merged;
    for (const Range& range : ranges) {
        if (!merged.empty() && touches(merged.back().last, range.first)) {
            merged.back().last = std::max(merged.back().last, range.last);
        } else {
            merged.push_back(range);
        }
    }
    ranges = std::move(merged);
}

template <typename Range>
std::vector<Range> in_both(const std::vector<Range>& a, const std::vector<Range>& b) {
    std::vector<Range> both;
    for (auto i = a.begin(), j = b.begin(); i != a.end() && j != b.end();) {
        const auto first = std::max(i->first, j->first);
        const auto last = std::min(i->last, j->last);
        if (first <= last) {
            both.push_back({first, last});
        }
        if (i->last < j->last) {
            ++i;
        } else {
            ++j;
        }
    }
    return both;
}

}  // namespace

void normalise(std::vector<NumberRange>& ranges) {
    sort_and_merge(ranges);
}

void normalise(std::vector<AddressRange>& ranges) {
    sort_and_merge(ranges);
}

std::vector<NumberRange> complement(const std::vector<NumberRange>& ranges, std::uint64_t max) {
    std::vector<NumberRange> rest;
    std::uint64_t first = 0;
    for (const NumberRange& range : ranges) {
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

const AddressRange* first_finer(IpVersion version, const std::vector<AddressRange>& ranges,
                                std::uint8_t length) {
    const auto key = [version](const IpAddress& address) {
        return version == IpVersion::V4 ? Wide{v4_key(address)} : v6_key(address);
    };
    const unsigned free = (version == IpVersion::V4 ? 32U : 128U) - length;
    const Wide inside = free == 128 ? ~Wide{0} : (Wide{1} << free) - 1;
    for (std::size_t i = 0; i < ranges.size(); ++i) {
        const Wide first = key(ranges[i].first);
        const Wide last = key(ranges[i].last);
        const bool goes_on = i + 1 < ranges.size() && key(ranges[i + 1].first) == last + 1;
        const bool went_on = i > 0 && key(ranges[i - 1].last) + 1 == first;
        if (((first & inside) != 0 && !went_on) || ((last & inside) != inside && !goes_on)) {
            return &ranges[i];
        }
    }
    return nullptr;
}

AddressRange range_of(const IpPrefix& prefix) {
    AddressRange range{prefix.address, prefix.address};
    const std::size_t size = prefix.version == IpVersion::V4 ? 4 : 16;
    for (std::size_t i = 0; i < size; ++i) {
        const auto first_bit = static_cast<unsigned>(i) * 8;
        if (prefix.length <= first_bit) {
            range.last.bytes[i] = std::byte{0xFF};
        } else if (prefix.length < first_bit + 8) {
            range.last.bytes[i] |= static_cast<std::byte>(0xFFU >> (prefix.length - first_bit));
        }
    }
    return range;
}

}  // namespace sluice
