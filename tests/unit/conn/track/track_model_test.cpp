#include "lib/conn/track/connection_tracker.hpp"
#include "tests/unit/conn/track/tcp_model.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>

// Dialogues between an honest client and an honest server over bad paths, the box in the middle:
// nothing of theirs is refused, and all that the server takes was readable under one identity.
namespace sluice::track_model_test {
namespace {

using test::Chance;
using test::draw;
using test::odds;
using test::Packet;
using test::Path;
using test::PathFaults;
using test::TcpEnd;

constexpr std::uint64_t kEnds = 0xABCD'EF01'2345'6789;

struct Course {
    std::uint64_t segments = 0;
    std::uint64_t accepted = 0;
    std::uint64_t connections = 0;
};

class Simulation {
public:
    Simulation(std::uint64_t seed, PathFaults faults)
        : chance_{seed},
          to_box_{faults},
          to_server_{faults},
          from_server_{faults},
          to_client_{faults},
          client_{shape(false), client_out_},
          server_{shape(true), server_out_},
          tracker_{{.connections = 16, .half_open = 16, .midstream = 16},
                   KeyHasher{HashSecret{3, 4}}} {}

    // So many connections on the same ports, one after the other.
    Course run(unsigned connections) {
        for (unsigned i = 0; i < connections && !testing::Test::HasFailure(); ++i) {
            one_connection();
        }
        return course_;
    }

private:
    struct Passed {
        bool readable = false;
        std::uint64_t id = 0;
        std::uint64_t connection = 0;
    };

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
        // An old SYN-ACK would answer a SYN of the same number.
        const bool same_number = odds(chance_, 50) && server_.state == TcpEnd::State::Closed &&
                                 from_server_.empty() && to_client_.empty();
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
        check_accepted();
        flush();
    }

    void through_box(const Packet& packet, bool from_client) {
        ++course_.segments;
        const TrackedSegment segment{.ends = kEnds,
                                     .from_low = from_client,
                                     .service = from_client ? std::uint16_t{0} : kNoService,
                                     .seq = packet.seq,
                                     .ack = packet.ack,
                                     .flags = packet.flags,
                                     .payload = packet.payload,
                                     .window = packet.window,
                                     .ttl = 64,
                                     .scale = packet.scale};
        const std::array<TrackPolicy, 1> policies{};
        const TrackVerdict verdict = tracker_.track(segment, policies, now_);
        if (verdict.kind == TrackVerdict::Kind::Reset) {
            to_client_.add({.connection = packet.connection, .seq = packet.ack, .flags = kRstFlag},
                           chance_);
        }
        // What is left of an earlier connection nobody misses, nor what comes behind an abort.
        const bool aborted = client_.state == TcpEnd::State::Closed ||
                             server_.state == TcpEnd::State::Closed || server_.iss != client_.irs;
        const bool is_over = aborted && (verdict.reason == TrackReason::BehindReset ||
                                         verdict.reason == TrackReason::SynAckUnasked ||
                                         verdict.kind == TrackVerdict::Kind::Inspect ||
                                         verdict.kind == TrackVerdict::Kind::Reset);
        // Copies of old SYNs and SYN-ACKs have made them believe in different connections.
        const bool differ = client_.state == TcpEnd::State::Open && server_.iss != client_.irs;
        const bool is_left = !packet.refuses && packet.iss != (from_client ? client_ : server_).iss;
        const bool is_late = is_left || differ ||
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
            passed_.resize(numbers_ + 1);
            passed_[packet.number] = {verdict.readable, verdict.id, packet.connection};
        }
        (from_client ? to_server_ : to_client_).add(packet, chance_);
    }

    // What the server has taken since the last time.
    void check_accepted() {
        if (server_.state != TcpEnd::State::Open) {
            return;
        }
        if (server_.iss != server_iss_ || server_.irs != server_irs_) {
            server_iss_ = server_.iss;
            server_irs_ = server_.irs;
            checked_ = 0;
            id_ = 0;
        }
        for (; checked_ < server_.accepted.size(); ++checked_) {
            const Passed& by = passed_.at(server_.accepted[checked_]);
            ASSERT_TRUE(by.readable) << "byte " << checked_;
            ASSERT_NE(by.id, 0U);
            id_ = id_ == 0 ? by.id : id_;
            ASSERT_EQ(by.id, id_) << "byte " << checked_;
            ++course_.accepted;
        }
        if (id_ != 0 && checked_ != 0) {
            const auto [known, fresh] = ids_.try_emplace(id_, std::pair{server_irs_, server_iss_});
            ASSERT_EQ(known->second, (std::pair{server_irs_, server_iss_}));
        }
    }

    Chance chance_;
    std::vector<Packet> client_out_;
    std::vector<Packet> server_out_;
    Path to_box_;
    Path to_server_;
    Path from_server_;
    Path to_client_;
    TcpEnd client_;
    TcpEnd server_;
    ConnectionTracker tracker_;
    Instant now_{std::chrono::hours{1}};
    Course course_;
    std::uint64_t numbers_ = 0;
    std::vector<Passed> passed_;
    std::uint64_t checked_ = 0;
    std::uint64_t id_ = 0;
    std::uint32_t server_iss_ = 0;
    std::uint32_t server_irs_ = 0;
    std::map<std::uint64_t, std::pair<std::uint32_t, std::uint32_t>> ids_;
};

TEST(TrackModel, NothingOfAnHonestPairIsRefused) {
    Course all;
    for (std::uint64_t seed = 1; seed <= 400 && !testing::Test::HasFailure(); ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        const PathFaults faults{.loss = static_cast<unsigned>(seed % 7),
                                .doubled = static_cast<unsigned>(seed % 5),
                                .reordered = static_cast<unsigned>(seed % 3 * 20)};
        const Course course = Simulation{seed, faults}.run(20);
        all.segments += course.segments;
        all.accepted += course.accepted;
        all.connections += course.connections;
    }
    EXPECT_GT(all.connections, 5'000U);
    EXPECT_GT(all.accepted, 1'000'000U);
    EXPECT_GT(all.segments, 500'000U);
}

}  // namespace
}  // namespace sluice::track_model_test
