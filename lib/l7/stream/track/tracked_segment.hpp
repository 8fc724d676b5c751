#pragma once
#include "lib/base/units.hpp"
#include "lib/packet/tcp_flags.hpp"

#include <cstdint>
#include <optional>

namespace sluice {

inline constexpr std::uint16_t kNoService = 0xFFFF;
inline constexpr std::uint16_t kMostServices = 256;  // numbers of services are below

// The option of RFC 7323, 3.2.
struct TrackedTimestamps {
    std::uint32_t value = 0;  // of several, the oldest
    std::uint32_t echo = 0;   // the receiver's latest one that its sender has taken
};

// One TCP segment of either direction, as its headers say.
struct TrackedSegment {
    std::uint64_t ends = 0;              // keyed digest of both ends, the same for both directions
    bool from_low = false;               // which of the two ends sent it
    std::uint32_t source = 0;            // of a client on unknown ends: keyed digest of whom its
                                         // connection is accounted to
    std::uint16_t service = kNoService;  // that its own direction belongs to: then its sender is
                                         // the client; kNoService: it is only looked up
    std::uint32_t seq = 0;
    std::uint32_t ack = 0;
    std::uint16_t flags = 0;
    std::uint32_t payload = 0;
    std::uint16_t window = 0;  // as it stands in the header
    std::uint16_t urgent = 0;  // pointer
    std::uint8_t ttl = 0;
    std::optional<std::uint8_t> scale;  // window scale option of a SYN or SYN-ACK
    std::optional<TrackedTimestamps> timestamps;
    bool checksum_wrong = false;
    bool checksum_unfinished = false;  // its sender has left the rest of the sum to an adapter
    bool is_fragment = false;
    bool is_made_here = false;          // a RST of the box's own
    bool has_doubtful_options = false;  // of IP or TCP, for which its receiver may drop it
    bool has_unknown_options = false;   // of TCP, that may give its bytes another place or meaning

    [[nodiscard]] constexpr bool has(std::uint16_t flag) const noexcept {
        return (flags & flag) != 0;
    }
    // The place behind its bytes, where its FIN would be. A SYN takes the first number.
    [[nodiscard]] constexpr std::uint32_t data_end() const noexcept {
        return seq + (has(kTcpSyn) ? 1U : 0U) + payload;
    }
};

// The fate of segments of a connection that nobody knows.
enum class MidstreamPolicy : std::uint8_t { Inspect, Reset, Pass };

// The demands of a service on the tracker.
struct TrackPolicy {
    bool enforced = true;       // false: what is dropped goes on all the same, and moves the state
    bool inbound_only = false;  // the server's segments do not come this way
    MidstreamPolicy midstream = MidstreamPolicy::Inspect;
    std::uint8_t min_ttl = 32;
    Instant grace_until = Instant::min();  // until then Inspect lets pass what begins no request
    std::uint8_t protocol = 0;             // a connection of another one is not known; below 16
};

}  // namespace sluice
