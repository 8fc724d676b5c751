#pragma once
#include "lib/l7/stream/normalization.hpp"
#include "lib/l7/stream/service.hpp"
#include "lib/packet/row_mask.hpp"
#include "lib/packet/verdict.hpp"

#include <array>
#include <cstdint>

namespace sluice {

// The part that a packet has in a datagram of UDP.
enum class DatagramShare : std::uint8_t {
    Whole,     // all of it
    Fragment,  // others complete it
    Last,      // it completes a datagram in fragments, and has the verdict of all of it
    Copy,      // of the last one, whose verdict is still to come
};

// A packet that belongs to a declared service, as the tracker of its connection sees it.
struct ServicePacket {
    const Service* service = nullptr;  // nullptr: it belongs to none
    std::uint16_t slot = 0xFFFF;       // the number that its service keeps under other rule sets
    std::uint64_t connection = 0;      // of TCP: digest of its ends and both first numbers
    std::uint64_t datagram = 0;        // of UDP in fragments: digest of what they have in common
    std::uint32_t first = 0;           // number of the connection's first byte from the client
    DatagramShare share = DatagramShare::Whole;
    bool is_other_syn = false;       // between its ends, of a connection that may follow it
    bool is_next = false;            // it begins at `acknowledged`
    std::uint32_t acknowledged = 0;  // all of its client's bytes before it the server has
    std::uint32_t sent = 0;          // behind all that its client had sent before it
    std::uint32_t client_fin = 0;    // number of its client's FIN, where client_ends
    bool client_ends = false;        // a FIN of its client stands, and the packet is forwarded
    bool is_from_client = false;
    bool is_proxied = false;         // its connection begins with a PROXY protocol header
    bool is_readable = false;        // its bytes may be read: the server would take them
    bool is_unreadable = false;      // its server has gone over to a protocol that nobody reads
    bool is_midstream = false;       // the beginning of its connection is not known
    bool may_miss_some = false;      // its server may have bytes that nobody read: of a connection
                                     // in midstream, or of datagrams of a service that is new
    bool is_server_unheard = false;  // nothing of its server has come since a restart
    bool is_beginning = false;       // the server has acknowledged no byte of it yet
    bool is_long = false;            // `first` may be the number of a later byte
    bool is_established = false;     // the client has acknowledged the server's number
    bool is_end = false;             // it ends the connection

    // True if a segment of the client is its reader's.
    [[nodiscard]] bool is_read(bool has_payload) const noexcept {
        return has_payload ? is_readable : client_ends;
    }
    [[nodiscard]] bool is_enforced() const noexcept {
        return service != nullptr && service->mode == Mode::Enforce;
    }
};

static_assert(sizeof(ServicePacket) <= 64, "a cache line of each packet");

// Ports of a datagram that came in fragments.
struct DatagramPorts {
    std::uint16_t from = 0;
    std::uint16_t to = 0;
};

// Findings of the trackers of services about a burst.
struct ServiceRowsOutcome {
    std::array<ServicePacket, kMaxBurst> packets;
    RowMask with_service = 0;  // rows that belong to one
    RowMask refused = 0;       // by enforced ones, before any rule
    RowMask resets = 0;        // of these, whose connections are reset at both ends
    RowMask would_refuse = 0;  // by those that monitor
    RowMask normalized = 0;
    RowMask in_fragments = 0;  // last fragments, and copies of them: rows of `ports`
    std::array<DatagramPorts, kMaxBurst> ports;
    std::array<Reason, kMaxBurst> why;  // of rows that are refused, or would be
    std::array<Normalization, kMaxBurst> normalizations;

    void clear() noexcept {
        for_each_row(with_service, [&](std::size_t row) { packets[row] = {}; });
        with_service = refused = resets = would_refuse = normalized = in_fragments = 0;
    }
    // The changes to a row that is forwarded.
    [[nodiscard]] Normalization& normalize(std::size_t row) noexcept {
        if (!has_row(normalized, row)) {
            normalized |= row_bit(row);
            normalizations[row] = {};
        }
        return normalizations[row];
    }
    void refuse(std::size_t row, Reason reason) noexcept {
        (packets[row].is_enforced() ? refused : would_refuse) |= row_bit(row);
        why[row] = reason;
    }
};

}  // namespace sluice
