#pragma once
#include "lib/packet/ip_address.hpp"
#include "lib/packet/packet_headers.hpp"
#include "lib/packet/verdict.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace sluice {

// The most bytes of a frame that a trace keeps.
inline constexpr std::size_t kMostTracedBytes = 1600;

// The fate of one packet, as those who trace are told of it.
struct TracedPacket {
    std::int64_t utc_ns = 0;  // when it was decided, since 1970
    std::uint32_t lcore = 0;  // of the worker that did
    std::string pair;
    Direction dir = Direction::In;
    Verdict verdict = Verdict::Pass;
    Reason reason = Reason::Unmatched;
    std::string rule;          // that made the verdict; empty: none
    std::string key;           // of that rule, part|part; empty: it has none
    std::string limit;         // that refused; empty: none did
    std::int64_t wait_ns = 0;  // until it is admitted, of what a limit refused; the largest: never
    // The first rules that match it, in the order of the file, whatever their modes, and how many
    // there are.
    std::vector<std::string> matched;
    std::uint32_t matched_count = 0;
    std::string service;        // whose it is; empty: none's
    bool would_refuse = false;  // that one is in monitor and would refuse it, for this reason:
    Reason why_would_refuse = Reason::Unmatched;
    // Addresses are there if `has_ip`, and the ports if `has_ports`.
    bool has_ip = false;
    bool has_ports = false;
    bool is_v6 = false;
    IpAddress src;
    IpAddress dst;
    std::uint8_t proto = 0;
    std::uint16_t sport = 0;
    std::uint16_t dport = 0;
    std::uint32_t wire_size = 0;
    std::vector<std::byte> frame;  // its first bytes, as it came in

    [[nodiscard]] bool operator==(const TracedPacket&) const = default;
};

}  // namespace sluice
