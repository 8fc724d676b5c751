#include "lib/policy/values/range_set.hpp"

#include "lib/match/address_key.hpp"

namespace sluice {
namespace {

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

}  // namespace

bool touches(const IpAddress& last, const IpAddress& first) noexcept {
    return first <= next(last);
}

const AddressRange* first_finer(IpVersion version, const std::vector<AddressRange>& ranges,
                                std::uint8_t length) {
    const auto key = [version](const IpAddress& address) { return wide_key(version, address); };
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
