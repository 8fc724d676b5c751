#pragma once
#include "lib/packet/frame_columns.hpp"
#include "lib/packet/header_part.hpp"
#include "lib/packet/packet_headers.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace sluice {

// A number for each row.
using RowNumbers = std::array<std::uint64_t, kMaxBurst>;

// The headers of a burst, one column for each field that most packets have: what vector code
// compares, gathers and hashes. parse_columns() fills it. A value counts only where the presence
// mask of its part has the row; elsewhere it is any number. Presence masks and `malformed` have no
// bit of a row that is not in use.
class alignas(64) HeaderColumns {
public:
    // Aligned for vector loads.
    template <typename T>
    struct alignas(32) Column : std::array<T, kMaxBurst> {};

    // Addresses. IPv6 ones in rows of `v6`, IPv4 ones in all other rows that have an IP header: as
    // they stand in the packet, and as numbers.
    Column<IpAddress> src6{};
    Column<IpAddress> dst6{};
    Column<std::uint32_t> src{};
    Column<std::uint32_t> dst{};
    Column<std::uint32_t> src_host{};
    Column<std::uint32_t> dst_host{};

    Column<std::uint64_t> port{};  // port_name() of the pair
    Column<std::uint32_t> ip_len{};
    Column<std::uint32_t> payload_len{};
    Column<std::uint32_t> byte_units{};  // what `per: byte` charges; every row has it
    Column<std::uint32_t> src_asn{};
    Column<std::uint32_t> dst_asn{};
    Column<std::uint16_t> sport{};
    Column<std::uint16_t> dport{};
    Column<std::uint16_t> tcp_flags{};
    Column<std::uint16_t> vlan_id{};
    Column<std::uint16_t> src_country{};
    Column<std::uint16_t> dst_country{};
    Column<std::uint16_t> payload_at{};  // where the payload begins in the frame
    Column<std::uint8_t> proto{};
    Column<std::uint8_t> ttl{};
    Column<std::uint8_t> dscp{};
    Column<Fragment> frag{};
    Column<Direction> dir{};
    Column<IpVersion> ip_version{};
    Column<Parsed> parsed{};  // every row has it

    std::array<RowMask, kHeaderPartCount> present{};  // by HeaderPart
    RowMask v6 = 0;                                   // rows whose innermost IP header is IPv6
    RowMask malformed = 0;                            // rows that no rule sees
    RowMask common = 0;                               // rows that were parsed eight at a time
    RowMask not_ip = 0;                               // so were these, which lead to no IP packet
    RowMask bad_ipv4 = 0;                             // and these, whose IPv4 header is unsound

    // The ingress of a frame: the side of the pair, and port_name() of the pair (0: it has none).
    // Set before parse_columns(), which keeps it; a row keeps it from burst to burst.
    void set_ingress(std::size_t row, Direction direction, std::uint64_t name) noexcept;
    // The same for all rows.
    void set_ingress(Direction direction, std::uint64_t name) noexcept;

    // Rows in use; rows that rules see.
    [[nodiscard]] RowMask rows() const noexcept { return present_rows(HeaderPart::Frame); }
    [[nodiscard]] RowMask well_formed() const noexcept { return rows() & ~malformed; }

    [[nodiscard]] RowMask present_rows(HeaderPart part) const noexcept {
        return present[static_cast<std::size_t>(part)];
    }
    [[nodiscard]] RowMask present_rows(Field field) const noexcept {
        return present_rows(part_of(field));
    }
    // Notes that these rows have the part, whose columns have been filled: for origins.
    void add_present(HeaderPart part, RowMask rows) noexcept {
        present[static_cast<std::size_t>(part)] |= rows;
    }

    // The texts of the unit of a later layer that a row stands for, good for as long as the frames.
    void set_unit(std::size_t row, const UnitTexts& texts) noexcept;
    void forget_units() noexcept { with_unit_ = 0; }
    // A later fragment stands for its whole datagram of UDP from now on, whose ports these are.
    void set_datagram(std::size_t row, std::uint16_t from, std::uint16_t to) noexcept;
    // The rows that have such texts.
    [[nodiscard]] RowMask with_unit() const noexcept { return with_unit_; }

    // All headers of one row, with direction, port, origins and unit as the columns have them. Good
    // until the next parse_columns().
    [[nodiscard]] const PacketHeaders& headers(std::size_t row) const noexcept;

    // The values of a Number, Flag, Mac, Name or Country field, of those of `rows` that have it:
    // these rows are returned, and numbers of other rows are any. For fields that have a column and
    // for those that have none.
    [[nodiscard]] RowMask gather(Field field, RowMask rows, RowNumbers& numbers) const noexcept;

    // The value of an Address field, with its version, in a row that has it.
    [[nodiscard]] VersionedAddress address(Field field, std::size_t row) const noexcept;

private:
    friend class ColumnParser;

    void collect(std::size_t row) const noexcept;
    void walk(std::size_t row) const noexcept;
    void add_origins(std::size_t row, PacketHeaders& headers) const noexcept;

    const FrameColumns* frames_ = nullptr;
    RowMask with_unit_ = 0;  // rows that stand for a unit of a later layer
    std::array<const UnitTexts*, kMaxBurst> units_{};
    RowMask named_ports_ = 0;  // rows whose pair has a name, in use or not
    // Made when they are needed: those of odd shape by parse_columns(), the others by headers().
    mutable RowMask made_ = 0;
    mutable std::array<PacketHeaders, kMaxBurst> made_headers_{};
};

}  // namespace sluice
