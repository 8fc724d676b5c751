#include "lib/l7/stream/track/connection_tracker.hpp"
#include "tests/rounds.hpp"
#include "tests/unit/l7/stream/track/accepted_check.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>

// Dialogues between an honest client and an honest server over bad paths, the box in the middle:
// nothing of theirs is refused, and all that the server takes was readable under one identity.
namespace sluice::track_model_test {
namespace {

using test::Dice;
using test::draw;
using test::odds;
using test::Packet;
using test::Path;
using test::PathFaults;
using test::TcpEnd;

constexpr TrackBudget kBudget{.connections = 16, .half_open = 16, .midstream = 16};
constexpr HashSecret kSecret{3, 4};
constexpr std::uint64_t kEnds = 0xABCD'EF01'2345'6789;

struct Course {
    std::uint64_t segments = 0;
    std::uint64_t accepted = 0;
    std::uint64_t connections = 0;
    std::uint64_t strange = 0;
};

class Simulation {
public:
    // `strangers`: so many segments of people who know no numbers come before each of the two's
    // own.
    Simulation(std::uint64_t seed, PathFaults faults, unsigned strangers = 0)
        : chance_{seed},
          to_box_{faults},
          to_server_{faults},
          from_server_{faults},
          to_client_{faults},
          client_{shape(false), client_out_},
          server_{shape(true), server_out_},
          tracker_{kBudget, KeyHasher{kSecret}},
          undisturbed_{kBudget, KeyHasher{kSecret}},
          strangers_{strangers},
          blind_{seed + 1} {}

    // So many connections on the same ports, one after the other.
    Course run(unsigned connections) {
        for (unsigned i = 0; i < connections && !testing::Test::HasFailure(); ++i) {
            one_connection();
        }
        course_.accepted = taken_.accepted;
        return course_;
    }

private:
    TcpEnd::Shape shape(bool is_server) {
        TcpEnd::Shape made{.is_server = is_server,
                           .buffer = static_cast<std::uint32_t>(2000 + draw(chance_, 100'000)),
                           .segment = static_cast<std::uint32_t>(1 + draw(chance_, 1460))};
        if (odds(chance_, 70)) {
            made.scale = static_cast<std::uint8_t>(draw(chance_, 5));
        }
        return made;
    }

    void one_connection() {
        client_.planned = draw(chance_, 30) * draw(chance_, 2000);
        server_.planned = draw(chance_, 30) * draw(chance_, 2000);
        client_.will_close = odds(chance_, 70);
        server_.will_close = client_.will_close || odds(chance_, 50);
        // Segments left of a connection of the same number would belong to the next one too.
        const bool same_number = odds(chance_, 50) && server_.state == TcpEnd::State::Closed &&
                                 from_server_.empty() && to_client_.empty() && to_box_.empty() &&
                                 to_server_.empty();
        client_.connect(same_number ? client_.iss : static_cast<std::uint32_t>(chance_()));
        ++course_.connections;
        // Some are left alone in their middle, and their ports used again.
        const std::uint64_t patience = odds(chance_, 30) ? draw(chance_, 300) : 3000;
        for (std::uint64_t turn = 0; turn < patience && !is_over(); ++turn) {
            step();
        }
        if (client_.state != TcpEnd::State::Closed) {
            odds(chance_, 50) ? client_.abort() : void(client_.state = TcpEnd::State::Closed);
        }
        if (server_.is_done()) {
            server_.state = TcpEnd::State::Closed;
        }
        flush();
        for (std::uint64_t turn = draw(chance_, 100); turn != 0; --turn) {
            deliver();
        }
    }
    [[nodiscard]] bool is_over() const {
        return client_.state == TcpEnd::State::Closed || (client_.is_done() && server_.is_done());
    }

    void step() {
        now_ += Nanoseconds{static_cast<std::int64_t>(draw(chance_, 2'000'000))};
        switch (draw(chance_, 12)) {
            case 0:
            case 1:
                client_.send_new();
                break;
            case 2:
            case 3:
                server_.send_new();
                break;
            case 4:
                client_.send_again(chance_);
                break;
            case 5:
                server_.send_again(chance_);
                break;
            case 6:
                (odds(chance_, 50) ? client_ : server_).read(draw(chance_, 20'000));
                (odds(chance_, 50) ? client_ : server_).send_ack();
                break;
            case 7:
                if (odds(chance_, 1)) {
                    server_.abort();
                }
                break;
            default:
                deliver();
        }
        flush();
    }
    void flush() {
        for (Packet& packet : client_out_) {
            packet.number = ++numbers_;
            to_box_.add(packet, chance_);
        }
        client_out_.clear();
        for (Packet& packet : server_out_) {
            packet.number = ++numbers_;
            from_server_.add(packet, chance_);
        }
        server_out_.clear();
    }
    void deliver() {
        if (const auto packet = to_box_.take()) {
            through_box(*packet, true);
        }
        if (const auto packet = from_server_.take()) {
            through_box(*packet, false);
        }
        if (const auto packet = to_server_.take()) {
            server_.take(*packet, chance_);
        }
        if (const auto packet = to_client_.take()) {
            client_.take(*packet, chance_);
        }
        taken_.check(server_);
        flush();
    }

    void through_box(const Packet& packet, bool from_client) {
        ++course_.segments;
        const TrackedSegment segment = test::tracked(packet, from_client, kEnds);
        const std::array<TrackPolicy, 1> policies{};
        disturb(policies);
        const TrackVerdict verdict = tracker_.track(segment, policies, now_);
        if (strangers_ != 0) {
            const TrackVerdict undisturbed = undisturbed_.track(segment, policies, now_);
            // Among SYNs of strangers nobody knows which one a SYN-ACK answers: more of what the
            // server has sent to nobody may pass than otherwise.
            if (undisturbed.forwards()) {
                expect_same(verdict, undisturbed);
            }
        }
        if (verdict.kind == TrackVerdict::Kind::Reset) {
            to_client_.add({.connection = packet.connection, .seq = packet.ack, .flags = kTcpRst},
                           chance_);
        }
        // Segments of an earlier connection nobody misses, nor those behind an abort.
        const bool aborted = client_.state == TcpEnd::State::Closed ||
                             server_.state == TcpEnd::State::Closed || server_.iss != client_.irs;
        const bool both_closed =
            client_.state == TcpEnd::State::Closed && server_.state == TcpEnd::State::Closed;
        const bool is_over =
            both_closed || (aborted && (verdict.reason == TrackReason::BehindReset ||
                                        verdict.reason == TrackReason::SynAckUnasked ||
                                        verdict.kind == TrackVerdict::Kind::Inspect ||
                                        verdict.kind == TrackVerdict::Kind::Reset));
        // Copies of old SYNs and SYN-ACKs have made them believe in different connections.
        const bool differ = client_.state == TcpEnd::State::Open && server_.iss != client_.irs;
        const bool is_left = !packet.refuses && packet.iss != (from_client ? client_ : server_).iss;
        // RFC 5961, 5: nobody takes an acknowledgement that was overtaken by a whole window.
        const bool is_overtaken =
            verdict.reason == TrackReason::AckTooOld &&
            (from_client ? client_ : server_).expects() - packet.ack < 1U << 30;
        const bool is_late = is_overtaken || is_left || differ ||
                             (packet.refuses && verdict.reason == TrackReason::ResetOutOfWindow);
        if (packet.connection == client_.connection && !is_over && !is_late) {
            ASSERT_TRUE(verdict.forwards())
                << (from_client ? "client" : "server") << "'s segment "
                << kTrackReasons.at(static_cast<std::size_t>(verdict.reason)).name << " seq "
                << packet.seq << " ack " << packet.ack << " flags " << packet.flags << " payload "
                << packet.payload;
        }
        if (!verdict.forwards()) {
            return;
        }
        if (from_client) {
            taken_.note_passed(packet, verdict);
        }
        (from_client ? to_server_ : to_client_).add(packet, chance_);
    }

    // Segments with numbers of chance, from both sides. They are seen by one of two trackers.
    void disturb(const std::array<TrackPolicy, 1>& policies) {
        for (unsigned i = 0; i < strangers_; ++i) {
            const bool from_client = odds(blind_, 70);
            constexpr auto kKinds = std::to_array<std::uint16_t>(
                {kTcpAck, kTcpAck, kTcpRst, kTcpRst | kTcpAck, kTcpFin | kTcpAck, 0, kTcpFin,
                 kTcpSyn, kTcpSyn | kTcpAck, kTcpSyn | kTcpRst});
            Packet packet{.seq = static_cast<std::uint32_t>(blind_()),
                          .ack = static_cast<std::uint32_t>(blind_()),
                          .flags = kKinds.at(draw(blind_, kKinds.size())),
                          .payload = static_cast<std::uint32_t>(draw(blind_, 1500)),
                          .window = static_cast<std::uint16_t>(blind_())};
            packet.scale = odds(blind_, 50) ? std::optional<std::uint8_t>{14} : std::nullopt;
            packet.payload = packet.has(kTcpSyn) || odds(blind_, 30) ? 0 : packet.payload;
            // A SYN-ACK from the server's side is the server's word.
            if (from_client || !packet.has(kTcpSyn)) {
                const TrackVerdict verdict =
                    tracker_.track(test::tracked(packet, from_client, kEnds), policies, now_);
                EXPECT_FALSE(verdict.began || verdict.ended || verdict.replaced != 0);
                ++course_.strange;
            }
        }
    }
    static void expect_same(const TrackVerdict& verdict, const TrackVerdict& undisturbed) {
        ASSERT_EQ(verdict.kind, undisturbed.kind);
        ASSERT_EQ(verdict.reason, undisturbed.reason);
        ASSERT_EQ(verdict.readable, undisturbed.readable);
        ASSERT_EQ(verdict.take_from, undisturbed.take_from);
        ASSERT_EQ(verdict.id, undisturbed.id);
        ASSERT_EQ(verdict.replaced, undisturbed.replaced);
        ASSERT_EQ(verdict.established, undisturbed.established);
        ASSERT_EQ(verdict.began, undisturbed.began);
        ASSERT_EQ(verdict.ended, undisturbed.ended);
    }

    Dice chance_;
    std::vector<Packet> client_out_;
    std::vector<Packet> server_out_;
    Path to_box_;
    Path to_server_;
    Path from_server_;
    Path to_client_;
    TcpEnd client_;
    TcpEnd server_;
    ConnectionTracker tracker_;
    ConnectionTracker undisturbed_;
    unsigned strangers_;
    Dice blind_;
    Instant now_{std::chrono::hours{1}};
    Course course_;
    std::uint64_t numbers_ = 0;
    test::AcceptedCheck taken_;
};

TEST(TrackModel, NothingOfAnHonestPairIsRefused) {
    const int seeds = test::rounds(100);
    Course all;
    for (int seed = 1; seed <= seeds && !testing::Test::HasFailure(); ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        const auto draw = static_cast<unsigned>(seed);
        const PathFaults faults{.loss = draw % 7, .doubled = draw % 5, .reordered = draw % 3 * 20};
        const Course course = Simulation{draw, faults}.run(20);
        all.segments += course.segments;
        all.accepted += course.accepted;
        all.connections += course.connections;
    }
    const auto rounds = static_cast<std::uint64_t>(seeds);
    EXPECT_EQ(all.connections, 20 * rounds);
    EXPECT_GT(all.accepted, 50'000 * rounds);
    EXPECT_GT(all.segments, 2'000 * rounds);
}

TEST(TrackModel, StrangersChangeNothingForAnHonestPair) {
    const int seeds = test::rounds(40);
    std::uint64_t strange = 0;
    for (int seed = 1; seed <= seeds && !testing::Test::HasFailure(); ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        const auto draw = static_cast<unsigned>(seed);
        const PathFaults faults{.loss = draw % 4, .doubled = draw % 3, .reordered = draw % 2 * 20};
        strange += Simulation{draw, faults, 10}.run(5).strange;
    }
    EXPECT_GT(strange, static_cast<std::uint64_t>(seeds) * 3'000);
}

}  // namespace
}  // namespace sluice::track_model_test
