#pragma once
#include "lib/l7/quic/initial_opener.hpp"
#include "lib/l7/stream/service_packet.hpp"
#include "lib/packet/ip_address.hpp"

#include <cstdint>

// The memory of a packet's verdict, so that whatever repeats its bytes meets it again.
namespace sluice {

// Bytes of a connection that have the verdict of the packet that they were judged in, however often
// they are sent. What the numbers say is the parser's.
struct StickyBytes {
    std::uint64_t connection = 0;
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    std::uint8_t carrier = 0;  // which memory of the parser knows the connection
    bool is_whole = false;     // the packet holds all of the units' heads
    // The datagram in fragments that the packet completes, whose verdict it has; else 0.
    std::uint64_t datagram = 0;
};
// The outcome of the packet that the bytes were judged in.
enum class UnitOutcome : std::uint8_t {
    Forwarded,
    Refused,
    Reverted,  // kept back for what units have no part in: sent again, they are judged again
};

// The client of a packet whose connection begins with a PROXY protocol header.
struct ProxyHeaderClient {
    bool is_proxied = false;   // the packet is of such a connection; and
    VersionedAddress address;  // whom the header names; of no version: it was not seen
};

// A packet's sticky bytes: those that have its verdict, and those whose verdict it follows.
struct Stickiness {
    bool remembers = false;
    bool follows = false;
    bool awaits = false;  // see UnitSink::note_awaits()
    StickyBytes remembered;
    StickyBytes followed;
    ConnectionId quic_dcid;       // see UnitSink::note_quic_dcid()
    DatagramPorts ports;          // of a datagram in fragments, which the packet completes
    bool is_unjudgeable = false;  // it is dropped where a rule that acts is concerned, and why
    Reason why = Reason::Unmatched;
    ProxyHeaderClient client{};
};

}  // namespace sluice
