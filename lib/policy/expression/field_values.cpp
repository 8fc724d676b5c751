#include "lib/policy/expression/field_values.hpp"

#include "lib/packet/ethernet.hpp"
#include "lib/packet/ipv4.hpp"

#include <algorithm>
#include <array>

namespace sluice {
namespace {

constexpr auto kVersions = std::to_array<NumberRange>({{4, 4}, {6, 6}});
// Below stand lengths (IEEE 802.3, 3.2.6).
constexpr auto kEtherTypes =
    std::to_array<NumberRange>({{kSmallestEtherType, row_of(Field::EthType).max}});
// Zero is what segmentation offload leaves there.
constexpr auto kIpLengths =
    std::to_array<NumberRange>({{0, 0}, {kIpv4MinSize, row_of(Field::IpLen).max}});

constexpr auto kFieldValues = std::to_array<FieldValues>({
    {Field::IpVersion, kVersions, "4 or 6"},
    {Field::EthType, kEtherTypes, "0x0600 or more; below, the two bytes are a length"},
    {Field::IpLen, kIpLengths, "20 or more, or 0 where segmentation was left to a network card"},
});

}  // namespace

const FieldValues* find_field_values(Field field) noexcept {
    const auto found = std::find_if(kFieldValues.begin(), kFieldValues.end(),
                                    [field](const FieldValues& one) { return one.field == field; });
    return found == kFieldValues.end() ? nullptr : &*found;
}

bool holds_any(const FieldValues& values, std::span<const NumberRange> numbers) noexcept {
    return std::any_of(numbers.begin(), numbers.end(), [&](const NumberRange& range) {
        return std::any_of(values.ranges.begin(), values.ranges.end(), [&](const NumberRange& one) {
            return one.first <= range.last && range.first <= one.last;
        });
    });
}

}  // namespace sluice
