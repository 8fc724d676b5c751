#pragma once
#include "lib/bucket/hash/group_key.hpp"
#include "lib/packet/header_columns.hpp"
#include "lib/packet/packet_headers.hpp"
#include "lib/packet/row_mask.hpp"

#include <cstddef>
#include <cstdint>

// The identity of a connection, one for all that remember connections: a keyed digest of the pair
// that its packets came in at, of their VLAN tags, of protocol, addresses and ports, and of which
// end is on the outside. Both directions have the same one:
//
//   { pair, outer tag, inner tag, protocol, version, (low end, its port), (high end, its port),
//     the low end is on the outside }
//
// The low end is the one with the lower address and port. The same packet seen on the other side of
// the box, under another tag or on another pair is another connection. Packets without ports have
// an identity too, by their addresses.
namespace sluice {

// The connection of one packet, and the end that sent it.
struct ConnectionEnds {
    std::uint64_t digest = 0;
    bool from_low = false;      // by the order of the ends, not by who opened the connection
    bool from_outside = false;  // the packet entered on the outside

    [[nodiscard]] constexpr bool operator==(const ConnectionEnds&) const noexcept = default;
    [[nodiscard]] constexpr bool low_is_outside() const noexcept {
        return from_low == from_outside;
    }
    // A copy with the other end as the sender.
    [[nodiscard]] constexpr ConnectionEnds other_way() const noexcept {
        return {digest, !from_low, !from_outside};
    }
    // Digests of one direction, for tables that hold a line for each: the packet's own, and the
    // other.
    [[nodiscard]] constexpr std::uint64_t along() const noexcept { return directed(from_low); }
    [[nodiscard]] constexpr std::uint64_t against() const noexcept { return directed(!from_low); }

private:
    // One to one, so that two connections' directions differ whenever their digests do.
    [[nodiscard]] constexpr std::uint64_t directed(bool low_sends) const noexcept {
        const std::uint64_t product = (digest + (low_sends ? kOdd : 0)) * kOdd;
        return product ^ product >> 32;
    }
    static constexpr std::uint64_t kOdd = 0x9E37'79B9'7F4A'7C15;
};

// ConnectionEnds of the rows of a burst, as columns.
struct RowEnds {
    HeaderColumns::Column<std::uint64_t> digest{};
    RowMask from_low = 0;
    RowMask from_outside = 0;
    RowMask filled = 0;  // rows that have been worked out

    [[nodiscard]] ConnectionEnds operator[](std::size_t row) const noexcept {
        return {digest[row], has_row(from_low, row), has_row(from_outside, row)};
    }
};

[[nodiscard]] ConnectionEnds connection_ends(const PacketHeaders& headers,
                                             const KeyHasher& hash) noexcept;

// Adds these rows, which are in use, to `ends`.
void fill_connection_ends(const HeaderColumns& headers, RowMask rows, const KeyHasher& hash,
                          RowEnds& ends) noexcept;

}  // namespace sluice
