#pragma once
#include "tests/bench/packet_mill.hpp"
#include "tests/packets/frame.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sluice::bench {

// Two segments of one connection over IPv4 that acknowledge each other: what a client sends, and
// what its server sends back.
struct Exchange {
    test::Octets request;
    test::Octets answer;
};
// An exchange of the client with this number, below 2^16. Either payload may be empty.
[[nodiscard]] Exchange exchange_of(std::size_t number, std::string_view request,
                                   std::string_view answer);

// Makes it the same segment of the next of PacketMill::kStreams connections, which differ by their
// client's address; after the last one the segment that follows it, on the first. Checksums stay
// right. `ip` is the IPv4 header of a segment that exchange_of() made.
void write_exchange(std::uint8_t* ip) noexcept;

// The SYN that such a connection begins with, or its server's SYN and ACK, before the round of
// segments that follows the one in `frame`.
[[nodiscard]] test::Octets handshake_behind(const rte_mbuf* frame);

}  // namespace sluice::bench
