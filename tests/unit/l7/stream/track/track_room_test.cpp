#include "tests/unit/l7/stream/track/dialogue.hpp"

#include <random>

namespace sluice::track_room_test {
namespace {

using test::at_millisecond;
using test::Dialogue;
using test::expect_drop;
using test::expect_pass;
using test::Kind;

constexpr TrackBudget kSmall{.connections = 8, .half_open = 4, .midstream = 2};

// Another pair of ends, and another source, by a number.
void use(Dialogue& talk, std::uint64_t number) {
    std::mt19937_64 chance{number};
    talk.ends = chance();
    talk.source = static_cast<std::uint32_t>(number) + 1;
}
// Another pair of ends of this source.
void use_of(Dialogue& talk, std::uint32_t source, std::uint64_t number) {
    use(talk, number);
    talk.source = source;
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

// A closed connection keeps its place among the established: at the limit none goes for it, itself
// least of all, and the lists stay whole.
TEST(TrackRoom, AClosedConnectionBeginsAgainInItsOwnPlace) {
    for (const bool one_way : {false, true}) {
        Dialogue talk{kSmall};
        talk.policies[0].inbound_only = one_way;
        const auto begin = [&] {
            if (one_way) {
                talk.syn();
                return talk.client({.seq = 1, .ack = 1, .payload = 5});
            }
            return talk.handshake();
        };
        for (std::uint64_t i = 0; i < 8; ++i) {
            use(talk, i);
            begin();
        }
        use(talk, 3);
        talk.client({.seq = one_way ? 6U : 1U, .ack = 1, .flags = kTcpRst | kTcpAck});
        EXPECT_EQ(talk.tracker.size_of(TrackClass::Closed), 1U);
        talk.now = 1000;
        talk.client_iss += 1U << 28;
        talk.server_iss += 1U << 28;
        EXPECT_TRUE(begin().began || one_way);
        EXPECT_EQ(talk.tracker.size_of(TrackClass::HalfOpen), 0U);
        EXPECT_EQ(talk.tracker.size_of(TrackClass::Established), 8U);
        EXPECT_EQ(talk.tracker.size(), 8U);
        for (std::uint64_t i = 100; i < 110; ++i) {
            use(talk, i);
            talk.syn();
        }
        EXPECT_EQ(talk.tracker.counters().of(TrackEvent::HalfOpenFull), 0U);
    }
}

// The same of one whose server goes on behind a RST, where nothing is enforced.
TEST(TrackRoom, AConnectionThatGoesOnBehindARstKeepsItsPlace) {
    Dialogue talk{kSmall};
    talk.policies[0].enforced = false;
    for (std::uint64_t i = 0; i < 8; ++i) {
        use(talk, i);
        talk.handshake();
    }
    use(talk, 3);
    talk.client({.seq = 1, .ack = 1, .payload = 100});
    talk.now = 3000;
    talk.client({.seq = 1, .ack = 1, .flags = kTcpRst | kTcpAck});
    ASSERT_EQ(talk.tracker.size_of(TrackClass::Closed), 1U);
    talk.server({.seq = 1, .ack = 101});
    EXPECT_EQ(talk.tracker.counters().of(TrackEvent::Revived), 1U);
    EXPECT_EQ(talk.tracker.size_of(TrackClass::HalfOpen), 0U);
    EXPECT_EQ(talk.tracker.size_of(TrackClass::Established), 8U);
    EXPECT_EQ(talk.tracker.size(), 8U);
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
    EXPECT_FALSE(last.midstream) << "its first bytes are yet to come";
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

// A handshake of its own was seen: nothing of it is read in another order than its server takes.
TEST(TrackRoom, ABeginningThatFoundNoRoomIsReadInOrderUnderAnyPolicy) {
    for (const MidstreamPolicy policy :
         {MidstreamPolicy::Inspect, MidstreamPolicy::Pass, MidstreamPolicy::Reset}) {
        Dialogue talk{kSmall};
        talk.policies[0].midstream = policy;
        talk.policies[0].grace_until = at_millisecond(1'000'000);
        for (std::uint64_t i = 0; i < 8; ++i) {
            use(talk, i);
            talk.handshake();
        }
        use(talk, 8);
        talk.handshake();
        const auto say = [&](const test::Said& said, ClientBytes bytes) {
            const TrackVerdict verdict = talk.client(said);
            return verdict.kind == Kind::Inspect ? talk.settle(said, bytes) : verdict;
        };
        const test::Said ahead{.seq = 6, .ack = 1, .payload = 5};
        const test::Said first{.seq = 1, .ack = 1, .payload = 5};
        expect_drop(say(ahead, ClientBytes::BeginNone), TrackReason::Midstream);
        const TrackVerdict begins = say(first, ClientBytes::BeginNone);
        expect_pass(begins, true);
        EXPECT_FALSE(begins.midstream) << "a PROXY header may begin there";
        EXPECT_EQ(begins.first, talk.client_iss + 1);
        EXPECT_EQ(begins.take_from, begins.first);

        // There is room now, and it is the connection that its handshake began.
        use(talk, 0);
        EXPECT_TRUE(talk.client({.seq = 1, .flags = kTcpRst}).ended);
        use(talk, 8);
        const TrackVerdict again = say(first, ClientBytes::BeginNone);
        expect_pass(again, true);
        EXPECT_TRUE(again.began);
        EXPECT_NE(again.id, 0U);
        EXPECT_FALSE(again.midstream);
        expect_pass(say(ahead, ClientBytes::BeginNone), true);
        EXPECT_EQ(talk.client({.seq = 11, .ack = 1}).id, again.id);
    }
}

TEST(TrackRoom, OneSourceShutsOutNoOther) {
    Dialogue talk{kSmall};
    use_of(talk, 77, 5000);
    const std::uint64_t others = talk.handshake().id;
    for (std::uint64_t i = 0; i < 100; ++i) {
        use_of(talk, 5, i);
        EXPECT_TRUE(talk.handshake().began);
    }
    EXPECT_EQ(talk.tracker.size_of(TrackClass::Established), 8U);
    EXPECT_EQ(talk.tracker.counters().of(TrackEvent::EvictedOfMost), 93U);
    EXPECT_EQ(talk.tracker.counters().of(TrackEvent::TrackerFull), 0U);
    for (std::uint32_t i = 200; i < 203; ++i) {
        use_of(talk, i, i);
        EXPECT_TRUE(talk.handshake().began);
    }
    use_of(talk, 77, 5000);
    EXPECT_EQ(talk.client({.seq = 1, .ack = 1, .payload = 5}).id, others);
}

TEST(TrackRoom, OfTheSourceWithMostTheLongestSilentGoes) {
    Dialogue talk{kSmall};
    for (std::uint64_t i = 0; i < 8; ++i) {
        use_of(talk, 5, i);
        talk.handshake();
    }
    talk.now = 10'000;
    for (std::uint64_t i = 0; i < 8; ++i) {
        use_of(talk, 5, i);
        if (i != 3) {
            talk.client({.seq = 1, .ack = 1, .payload = 5});
        }
    }
    use_of(talk, 6, 100);
    EXPECT_TRUE(talk.handshake().began);
    use_of(talk, 5, 3);
    EXPECT_EQ(talk.tracker.service_of(talk.ends), kNoService);
}

// Its server may have bytes of it that nobody will read again.
TEST(TrackRoom, WhatMadeRoomIsResetWhenItGoesOn) {
    for (const MidstreamPolicy policy :
         {MidstreamPolicy::Inspect, MidstreamPolicy::Pass, MidstreamPolicy::Reset}) {
        Dialogue talk{kSmall};
        talk.policies[0].midstream = policy;
        talk.policies[0].grace_until = at_millisecond(100'000'000);
        for (std::uint64_t i = 0; i < 9; ++i) {
            use_of(talk, 5, i);
            talk.handshake();
        }
        talk.now = 800'000;
        use_of(talk, 5, 0);
        const auto say = [&](const test::Said& said) {
            const TrackVerdict verdict = talk.client(said);
            return verdict.kind == Kind::Inspect ? talk.settle(said, ClientBytes::Begin) : verdict;
        };
        const test::Said next{.seq = 1, .ack = 1, .payload = 5};
        const TrackVerdict probe = say(next);
        expect_pass(probe, false);
        EXPECT_TRUE(probe.is_probe);
        expect_pass(talk.server({.seq = 1, .ack = 1}), false);
        EXPECT_EQ(say(next).reason, TrackReason::MidstreamReset);
    }
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
    EXPECT_EQ(ConnectionTracker::memory_of({.connections = 1000, .half_open = 0, .midstream = 0}),
              HopscotchLines<TrackedConnection>::memory_of(1000) + 2048 * sizeof(SourceMember) +
                  SourceShares::memory_of(1000, 1000) +
                  RefusedConnections::memory_of(1000 / 16 + 1));
}

}  // namespace
}  // namespace sluice::track_room_test
