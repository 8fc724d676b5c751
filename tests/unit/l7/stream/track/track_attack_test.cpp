#include "lib/l7/stream/track/connection_tracker.hpp"
#include "tests/rounds.hpp"
#include "tests/unit/l7/stream/track/accepted_check.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>

// A client that knows all numbers and sends what it likes, over a path that loses some of it behind
// the box: whatever the server takes was readable.
namespace sluice::track_attack_test {
namespace {

using test::Dice;
using test::draw;
using test::odds;
using test::Packet;
using test::Path;
using test::TcpEnd;

constexpr std::uint64_t kEnds = 0xABCD'EF01'2345'6789;

class Attack {
public:
    explicit Attack(std::uint64_t seed)
        : chance_{seed},
          to_server_{{.loss = 10, .doubled = 5, .reordered = 20}},
          server_{{.is_server = true,
                   .scale = odds(chance_, 50) ? std::optional<std::uint8_t>{2} : std::nullopt,
                   .buffer = static_cast<std::uint32_t>(1000 + draw(chance_, 5000)),
                   .segment = 500},
                  server_out_},
          tracker_{{.connections = 16, .half_open = 16, .midstream = 16},
                   KeyHasher{HashSecret{3, 4}}} {
        server_.planned = 20'000;
    }

    void run(unsigned steps) {
        for (unsigned step = 0; step < steps && !testing::Test::HasFailure(); ++step) {
            now_ += std::chrono::milliseconds{draw(chance_, 3)};
            send(made());
            switch (draw(chance_, 8)) {
                case 0:
                    server_.send_new();
                    break;
                case 1:
                    server_.send_again(chance_);
                    break;
                case 2:
                    server_.read(draw(chance_, 2000));
                    server_.send_ack();
                    break;
                case 3:
                    if (odds(chance_, 3)) {
                        server_.abort();
                    }
                    break;
                default:
                    break;
            }
            if (const auto packet = to_server_.take()) {
                server_.take(*packet, chance_);
            }
            taken_.check(server_);
            answer();
        }
    }
    test::AcceptedCheck taken_;

private:
    std::uint32_t around(std::uint32_t number, unsigned reach) {
        return odds(chance_, 60)
                   ? number
                   : number + static_cast<std::uint32_t>(draw(chance_, 2 * reach + 1)) - reach;
    }
    Packet made() {
        Packet packet;
        packet.seq = odds(chance_, 60)   ? around(server_.expects(), 3000)
                     : odds(chance_, 50) ? around(server_.right_edge(), 5)
                                         : static_cast<std::uint32_t>(chance_());
        packet.ack = odds(chance_, 90) ? around(server_.next_number(), 700)
                                       : static_cast<std::uint32_t>(chance_());
        packet.payload = odds(chance_, 70) ? static_cast<std::uint32_t>(draw(chance_, 600)) : 0;
        packet.payload = odds(chance_, 15) ? 1 : packet.payload;
        // Bytes that end at what the server expects, or at the edge of its window, or near them.
        if (odds(chance_, 40)) {
            const std::uint32_t to = odds(chance_, 50) ? server_.expects() : server_.right_edge();
            const auto past = static_cast<std::uint32_t>(draw(chance_, 4));
            const auto size = static_cast<std::uint32_t>(1 + draw(chance_, 600));
            packet.seq = to + past - 1 - size;
            packet.payload = size;
        }
        packet.window = static_cast<std::uint16_t>(draw(chance_, 3000));
        packet.flags = kTcpAck;
        if (odds(chance_, 10)) {
            const auto kinds = std::to_array<std::uint16_t>(
                {0, kTcpSyn | kTcpAck, kTcpFin, kTcpFin | kTcpAck, kTcpFin | kTcpAck, kTcpRst,
                 kTcpRst, kTcpRst | kTcpAck, kTcpSyn | kTcpFin});
            packet.flags = kinds.at(draw(chance_, kinds.size()));
        }
        const bool stands = server_.state == TcpEnd::State::Open;
        if (odds(chance_, stands ? 2 : 50)) {
            packet.flags = kTcpSyn;
            packet.seq = odds(chance_, 50) ? syn_ : static_cast<std::uint32_t>(chance_());
            packet.payload = odds(chance_, 10) ? 5 : 0;
            packet.scale = odds(chance_, 50) ? std::optional<std::uint8_t>{7} : std::nullopt;
            syn_ = packet.seq;
        }
        return packet;
    }
    void send(Packet packet) {
        packet.number = ++numbers_;
        TrackedSegment segment = test::tracked(packet, true, kEnds);
        segment.checksum_wrong = odds(chance_, 2);
        segment.is_fragment = odds(chance_, 2);
        const TrackVerdict verdict = tracker_.track(segment, policies_, now_);
        if (verdict.kind == TrackVerdict::Kind::Inspect || !verdict.forwards()) {
            return;  // none of these bytes begins a request
        }
        taken_.note_passed(packet, verdict);
        to_server_.add(packet, chance_);
    }
    void answer() {
        for (const Packet& packet : server_out_) {
            static_cast<void>(tracker_.track(test::tracked(packet, false, kEnds), policies_, now_));
        }
        server_out_.clear();
    }

    Dice chance_;
    std::vector<Packet> server_out_;
    Path to_server_;
    TcpEnd server_;
    ConnectionTracker tracker_;
    std::array<TrackPolicy, 1> policies_{};
    Instant now_{std::chrono::hours{1}};
    std::uint64_t numbers_ = 0;
    std::uint32_t syn_ = 0;
};

TEST(TrackAttack, WhateverTheServerTakesWasReadable) {
    const int seeds = test::rounds(200);
    std::uint64_t accepted = 0;
    std::uint64_t connections = 0;
    for (int seed = 1; seed <= seeds && !testing::Test::HasFailure(); ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Attack attack{static_cast<std::uint64_t>(seed)};
        attack.run(2000);
        accepted += attack.taken_.accepted;
        connections += attack.taken_.connections();
    }
    EXPECT_GT(accepted, static_cast<std::uint64_t>(seeds) * 1000);
    EXPECT_GT(connections, static_cast<std::uint64_t>(seeds) * 2);
}

}  // namespace
}  // namespace sluice::track_attack_test
