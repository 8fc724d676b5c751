#include "tests/unit/conn/track/dialogue.hpp"

#include <random>

namespace sluice::track_room_test {
namespace {

using test::at_millisecond;
using test::Dialogue;
using test::expect_pass;
using test::Kind;

constexpr TrackBudget kSmall{.connections = 8, .half_open = 4, .midstream = 2};

// Another pair of ends, by a number.
void use(Dialogue& talk, std::uint64_t number) {
    std::mt19937_64 chance{number};
    talk.ends = chance();
}

TEST(TrackRoom, AFloodOfSynsEvictsHandshakesAlone) {
    Dialogue talk{kSmall};
    std::array<std::uint64_t, 8> ids{};
    for (std::uint64_t i = 0; i < 8; ++i) {
        use(talk, i);
        ids.at(i) = talk.handshake().id;
    }
    for (std::uint64_t i = 100; i < 5000; ++i) {
        use(talk, i);
        expect_pass(talk.syn(), false);
    }
    EXPECT_LE(talk.tracker.size_of(TrackClass::HalfOpen), 4U);
    EXPECT_EQ(talk.tracker.size_of(TrackClass::Established), 8U);
    EXPECT_GT(talk.tracker.counters().of(TrackEvent::EvictedHalfOpen) +
                  talk.tracker.counters().of(TrackEvent::HalfOpenFull),
              4000U);
    for (std::uint64_t i = 0; i < 8; ++i) {
        use(talk, i);
        EXPECT_EQ(talk.client({.seq = 1, .ack = 1, .payload = 5}).id, ids.at(i));
    }
}

TEST(TrackRoom, WhereAllAreLivingOneMoreIsMidstream) {
    Dialogue talk{kSmall};
    for (std::uint64_t i = 0; i < 8; ++i) {
        use(talk, i);
        talk.handshake();
    }
    talk.now = 89'000;
    use(talk, 8);
    const TrackVerdict last = talk.handshake();
    expect_pass(last, false);
    EXPECT_TRUE(last.midstream);
    EXPECT_EQ(last.id, 0U);
    EXPECT_EQ(talk.tracker.counters().of(TrackEvent::TrackerFull), 1U);
    // Its numbers are known from the handshake, and so is that nothing lies ahead of them.
    const test::Said half{.seq = 1, .ack = 1, .payload = 5};
    EXPECT_EQ(talk.client(half).kind, Kind::Inspect);
    expect_pass(talk.settle(half, ClientBytes::BeginHalf), true);

    // The longest silent makes way once no server keeps it any more.
    talk.now = 91'000;
    use(talk, 9);
    EXPECT_TRUE(talk.handshake().began);
    EXPECT_EQ(talk.tracker.counters().of(TrackEvent::EvictedIdle), 1U);
    EXPECT_EQ(talk.tracker.size_of(TrackClass::Established), 8U);
}

TEST(TrackRoom, EndedConnectionsMakeWayFirst) {
    Dialogue talk{kSmall};
    for (std::uint64_t i = 0; i < 8; ++i) {
        use(talk, i);
        talk.handshake();
    }
    EXPECT_TRUE(talk.client({.seq = 1, .flags = kTcpRst}).ended);
    use(talk, 8);
    EXPECT_TRUE(talk.handshake().began);
    EXPECT_EQ(talk.tracker.counters().of(TrackEvent::EvictedClosed), 1U);
}

TEST(TrackRoom, EachClassHasItsTimeOut) {
    Dialogue talk{kSmall};
    talk.handshake();
    use(talk, 1);
    talk.syn();
    use(talk, 2);
    talk.handshake();
    talk.client({.seq = 1, .flags = kTcpRst});
    const auto left = [&](std::int64_t milliseconds) {
        while (talk.tracker.expire(at_millisecond(milliseconds), 1)) {
        }
        return talk.tracker.size();
    };
    EXPECT_EQ(left(59'000), 3U);
    EXPECT_EQ(left(61'000), 1U);
    EXPECT_EQ(left(899'000), 1U);
    EXPECT_EQ(left(901'000), 0U);
    EXPECT_EQ(talk.tracker.counters().of(TrackEvent::HalfOpenTimeout), 1U);
    EXPECT_EQ(talk.tracker.counters().of(TrackEvent::IdleTimeout), 2U);
}

TEST(TrackRoom, ExpiresNoMoreThanItMay) {
    Dialogue talk{kSmall};
    for (std::uint64_t i = 0; i < 4; ++i) {
        use(talk, i);
        talk.syn();
    }
    EXPECT_TRUE(talk.tracker.expire(at_millisecond(100'000), 1));
    EXPECT_EQ(talk.tracker.size(), 3U);
    EXPECT_FALSE(talk.tracker.expire(at_millisecond(100'000), 10));
    EXPECT_EQ(talk.tracker.size(), 0U);
}

TEST(TrackRoom, TouchedConnectionsStayAndSilentOnesBehindThemGo) {
    Dialogue talk{kSmall};
    for (std::uint64_t i = 0; i < 4; ++i) {
        use(talk, i);
        talk.handshake();
    }
    for (std::int64_t minute = 1; minute < 30; ++minute) {
        talk.now = minute * 60'000;
        use(talk, 0);
        talk.client({.seq = 1, .ack = 1, .payload = 5});
        while (talk.tracker.expire(at_millisecond(talk.now), 1)) {
        }
    }
    EXPECT_EQ(talk.tracker.size(), 1U);
    use(talk, 0);
    EXPECT_TRUE(talk.tracker.may_know(talk.ends));
    EXPECT_NE(talk.client({.seq = 1, .ack = 1, .payload = 5}).id, 0U);
}

TEST(TrackRoom, AFloodOfUnknownConnectionsEvictsItsKindAlone) {
    Dialogue talk{kSmall};
    talk.handshake();
    for (std::uint64_t i = 100; i < 1000; ++i) {
        use(talk, i);
        EXPECT_EQ(talk.client({.seq = 1, .ack = 1, .payload = 5}).kind, Kind::Inspect);
    }
    EXPECT_LE(talk.tracker.size_of(TrackClass::Midstream), 2U);
    EXPECT_EQ(talk.tracker.size_of(TrackClass::Established), 1U);
}

TEST(TrackRoom, MemoryIsWhatItSays) {
    EXPECT_EQ(
        ConnectionTracker::memory_of({.connections = 1000, .half_open = 0, .midstream = 0}) / 2048,
        sizeof(TrackedConnection));
}

}  // namespace
}  // namespace sluice::track_room_test
