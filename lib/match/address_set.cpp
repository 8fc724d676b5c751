#include "lib/match/address_set.hpp"

#include "lib/match/burst_addresses.hpp"
#include "lib/match/sound_steps.hpp"
#include "lib/packet/packet_headers.hpp"

#include <array>
#include <utility>

namespace sluice {

bool are_sound(const AddressSetParts& parts) {
    constexpr std::size_t kRows = 2;  // outside and inside
    return are_sound(parts.steps, {kV4Bits, kMaxAddressSteps, kRows}) &&
           are_sound(parts.v6_steps, {kV6Bits, kMaxAddressSteps, kRows});
}

AddressSet::AddressSet(AddressSetParts parts) : parts_{std::move(parts)}, tables_{parts_} {}

bool AddressSet::has(const VersionedAddress& address) const noexcept {
    return (address.version == IpVersion::V4
                ? tables_.v4.find(v4_key(address.address), parts_.steps)
                : tables_.v6.find(v6_key(address.address), parts_.v6_steps)) != 0;
}

RowMask AddressSet::sources(const HeaderColumns& columns, RowMask rows) const noexcept {
    const BurstAddresses addresses{columns, rows, BurstAddresses::End::Source};
    std::array<std::uint32_t, kMaxBurst> found;
    addresses.find(tables_, parts_, found.data());
    RowMask inside = 0;
    for_each_row(rows, [&](std::size_t row) { inside |= found[row] != 0 ? row_bit(row) : 0; });
    return inside;
}

}  // namespace sluice
