#pragma once
#include "lib/l7/stream/track/connection_tracker.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>

// Segments between a client and a server of service 0, as short as a test can say them. Numbers are
// offsets: a SYN has number 0 of its side, the first byte number 1.
namespace sluice::test {

inline constexpr std::uint64_t kEnds = 0x1234'5678'9ABC'DEF1;
inline constexpr HashSecret kTrackSecret{1, 2};

inline Instant at_millisecond(std::int64_t milliseconds) {
    return Instant{std::chrono::hours{1} + std::chrono::milliseconds{milliseconds}};
}

struct Said {
    std::uint32_t seq = 0;
    std::uint32_t ack = 0;
    std::uint16_t flags = kTcpAck;
    std::uint32_t payload = 0;
    std::uint16_t window = 1000;
    std::optional<std::uint8_t> scale = {};
    std::optional<TrackedTimestamps> timestamps = {};
};

class Dialogue {
public:
    explicit Dialogue(const TrackBudget& budget = {.connections = 64,
                                                   .half_open = 16,
                                                   .midstream = 8})
        : tracker{budget, KeyHasher{kTrackSecret}} {}

    TrackVerdict client(const Said& said) { return raw(segment(said, true)); }
    TrackVerdict server(const Said& said) { return raw(segment(said, false)); }
    TrackVerdict raw(const TrackedSegment& segment) {
        return tracker.track(segment, policies, at_millisecond(now));
    }
    TrackVerdict settle(const Said& said, ClientBytes bytes) {
        return tracker.settle_midstream(segment(said, true), policies, bytes, at_millisecond(now));
    }
    [[nodiscard]] TrackedSegment segment(const Said& said, bool from_client) const {
        TrackedSegment made{.ends = ends,
                            .from_low = from_client == client_is_low,
                            .seq = said.seq + (from_client ? client_iss : server_iss),
                            .ack = said.ack + (from_client ? server_iss : client_iss),
                            .flags = said.flags,
                            .payload = said.payload,
                            .window = said.window,
                            .ttl = 64,
                            .scale = said.scale,
                            .timestamps = said.timestamps};
        made.source = from_client ? source : 0;
        made.service = from_client ? std::uint16_t{0} : kNoService;
        made.ack = (said.flags & kTcpAck) != 0 ? made.ack : 0;
        return made;
    }
    TrackVerdict syn(std::uint16_t window = 1000, std::optional<std::uint8_t> scale = {}) {
        return client({.flags = kTcpSyn, .window = window, .scale = scale});
    }
    TrackVerdict syn_ack(std::uint16_t window = 1000, std::optional<std::uint8_t> scale = {}) {
        return server({.ack = 1, .flags = kTcpSyn | kTcpAck, .window = window, .scale = scale});
    }
    TrackVerdict handshake() {
        syn();
        syn_ack();
        return client({.seq = 1, .ack = 1});
    }

    ConnectionTracker tracker;
    std::array<TrackPolicy, 1> policies{};
    std::uint64_t ends = kEnds;
    std::uint32_t source = 1;
    bool client_is_low = true;
    std::uint32_t client_iss = 0xFFFF'FF00;  // numbers wrap within the first bytes
    std::uint32_t server_iss = 0xFFFF'FE00;
    std::int64_t now = 0;
};

using Kind = TrackVerdict::Kind;

inline void expect_pass(const TrackVerdict& verdict, bool readable) {
    EXPECT_EQ(verdict.kind, Kind::Pass) << static_cast<int>(verdict.reason);
    EXPECT_EQ(verdict.readable, readable);
}
inline void expect_drop(const TrackVerdict& verdict, TrackReason reason) {
    EXPECT_EQ(verdict.kind, Kind::Drop);
    EXPECT_EQ(kTrackReasons.at(static_cast<std::size_t>(verdict.reason)).name,
              kTrackReasons.at(static_cast<std::size_t>(reason)).name);
    EXPECT_FALSE(verdict.readable);
}

}  // namespace sluice::test
