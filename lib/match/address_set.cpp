#include "lib/match/address_set.hpp"

#include "lib/match/address_key.hpp"
#include "lib/match/sound_steps.hpp"
#include "lib/packet/packet_headers.hpp"

#include <utility>

namespace sluice {

bool are_sound(const AddressSetParts& parts) {
    constexpr std::size_t kRows = 2;  // outside and inside
    return are_sound(parts.steps, {kV4Bits, kMaxAddressSteps, kRows}) &&
           are_sound(parts.v6_steps, {kV6Bits, kMaxAddressSteps, kRows});
}

AddressSet::AddressSet(AddressSetParts parts)
    : parts_{std::move(parts)}, v4_{parts_.steps, kV4Bits}, v6_{parts_.v6_steps, kV6Bits} {}

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
