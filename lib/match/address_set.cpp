#include "lib/match/address_set.hpp"

#include "lib/match/address_key.hpp"
#include "lib/packet/packet_headers.hpp"

#include <algorithm>
#include <utility>

namespace sluice {
namespace {

template <typename Key>
bool steps_hold(const std::vector<Step<Key>>& steps) {
    constexpr bool kWide = sizeof(Key) > sizeof(std::uint64_t);
    return !steps.empty() && steps.front().first == 0 && steps.size() <= kMaxAddressSteps &&
           (kWide || (steps.back().first >> 32U) == 0) &&
           std::adjacent_find(steps.begin(), steps.end(),
                              [](const auto& a, const auto& b) { return a.first >= b.first; }) ==
               steps.end() &&
           std::all_of(steps.begin(), steps.end(), [](const auto& step) { return step.row <= 1; });
}

}  // namespace

bool are_sound(const AddressSetParts& parts) {
    return steps_hold(parts.steps) && steps_hold(parts.v6_steps);
}

AddressSet::AddressSet(AddressSetParts parts)
    : parts_{std::move(parts)}, v4_{parts_.steps, 32}, v6_{parts_.v6_steps, 128} {}

bool AddressSet::has(const VersionedAddress& address) const noexcept {
    return (address.version == IpVersion::V4
                ? v4_.find(v4_key(address.address), parts_.steps)
                : v6_.find(v6_key(address.address), parts_.v6_steps)) != 0;
}

RowMask AddressSet::sources(const HeaderColumns& columns, RowMask rows) const noexcept {
    RowMask inside = 0;
    for_each_row(rows & ~columns.v6, [&](std::size_t row) {
        inside |= v4_.find(columns.src_host[row], parts_.steps) != 0 ? row_bit(row) : 0;
    });
    for_each_row(rows & columns.v6, [&](std::size_t row) {
        const Wide key = v6_key(columns.src6[row]);
        inside |= v6_.find(key, parts_.v6_steps) != 0 ? row_bit(row) : 0;
    });
    return inside;
}

}  // namespace sluice
