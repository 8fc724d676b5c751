#pragma once
#include "lib/base/result.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sluice {

// A packet as the command line describes it.
struct PacketWords {
    std::string src;
    std::string dst;
    std::string proto;  // tcp, udp, icmp or a number; empty: tcp with flags or http, else udp
    std::uint16_t sport = 0;
    std::uint16_t dport = 0;
    std::vector<std::string> flags;         // syn, ack, fin, rst, psh, urg
    std::uint32_t length = 0;               // of the IP packet; 0: its headers and payload
    std::string payload;                    // a text with \xNN, or `hex:` and digits
    std::string http;                       // "GET /x": a request as the payload
    std::string host;                       // of that
    std::vector<std::string> header_lines;  // of that, "Name: value" each
    std::uint8_t ttl = 64;
    std::uint8_t dscp = 0;
    std::uint16_t vlan = 0;  // 0: none

    [[nodiscard]] bool operator==(const PacketWords&) const = default;
};

// The Ethernet frame that carries such a packet; an Error says what of it cannot be.
[[nodiscard]] Result<std::vector<std::byte>> described_frame(const PacketWords& words);
// The handshake of the connection that the packet carries data of: SYN, SYN-ACK of the other side,
// ACK. nullopt: it carries none, or is a SYN itself.
[[nodiscard]] std::optional<std::array<PacketWords, 3>> handshake_before(const PacketWords& words);

}  // namespace sluice
