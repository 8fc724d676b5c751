#include "tests/unit/l7/stream/track/dialogue.hpp"

#include <random>

namespace sluice::track_midstream_test {
namespace {

using test::at_millisecond;
using test::Dialogue;
using test::expect_drop;
using test::expect_pass;
using test::Kind;

using Bytes = ClientBytes;

// The segment, and what becomes of it once its reader has said what its bytes are.
TrackVerdict settled(Dialogue& talk, const test::Said& said, Bytes bytes = Bytes::BeginNone) {
    const TrackVerdict verdict = talk.client(said);
    return verdict.kind == Kind::Inspect ? talk.settle(said, bytes) : verdict;
}
void expect_probe(const TrackVerdict& verdict) {
    expect_pass(verdict, false);
    EXPECT_TRUE(verdict.is_probe);
}

TEST(TrackMidstream, OfAMonitoredServicePassesAndIsReadInTheGrace) {
    Dialogue talk;
    talk.policies[0].enforced = false;
    talk.policies[0].grace_until = at_millisecond(60'000);
    const TrackVerdict verdict = talk.client({.seq = 1, .ack = 1, .payload = 5});
    expect_pass(verdict, true);
    EXPECT_TRUE(verdict.midstream && verdict.from_client);
    EXPECT_FALSE(verdict.is_probe);
    EXPECT_EQ(verdict.id, 0U);
    EXPECT_FALSE(verdict.established);
    talk.now = 60'000;
    EXPECT_EQ(talk.client({.seq = 1, .ack = 1, .payload = 5}).kind, Kind::Inspect);
}

// Until its server has said a number a segment goes on as an old one, which it answers by that.
TEST(TrackMidstream, IsReadAtTheNumberThatItsServerAcknowledges) {
    Dialogue talk;
    talk.policies[0].grace_until = at_millisecond(60'000);
    expect_probe(settled(talk, {.seq = 1000, .ack = 2000, .payload = 5}));
    expect_probe(settled(talk, {.seq = 1000, .ack = 2000, .payload = 5}));
    expect_pass(talk.server({.seq = 2000, .ack = 1000}), false);
    expect_drop(settled(talk, {.seq = 1001, .ack = 2000, .payload = 5}), TrackReason::Midstream);
    expect_drop(settled(talk, {.seq = 1011, .ack = 2000, .payload = 5}, Bytes::Begin),
                TrackReason::Midstream);
    expect_pass(settled(talk, {.seq = 990, .ack = 2000, .payload = 10}), false);
    const TrackVerdict verdict = settled(talk, {.seq = 998, .ack = 2000, .payload = 10});
    expect_pass(verdict, true);
    EXPECT_TRUE(verdict.began && verdict.may_miss_some);
    EXPECT_EQ(verdict.take_from, talk.client_iss + 1000);
    EXPECT_EQ(verdict.sent, talk.client_iss + 1000);
    EXPECT_EQ(talk.tracker.counters().of(TrackEvent::Probed), 2U);
}

TEST(TrackMidstream, IsTakenUpThoughMuchOfADownloadIsUnderWay) {
    Dialogue talk;
    talk.policies[0].grace_until = at_millisecond(60'000);
    expect_probe(settled(talk, {.seq = 1000, .ack = 2000, .payload = 5}));
    talk.server({.seq = 2'000'000, .ack = 1000, .payload = 1000});
    EXPECT_TRUE(settled(talk, {.seq = 1000, .ack = 2000, .payload = 5}).began);
}

// The server may have what half a request goes on with: from before, nobody knows.
TEST(TrackMidstream, HalfARequestEndsTheConnection) {
    Dialogue talk;
    talk.policies[0].grace_until = at_millisecond(60'000);
    const test::Said half{.seq = 1000, .ack = 2000, .payload = 5};
    expect_probe(settled(talk, half, Bytes::BeginHalf));
    talk.server({.seq = 2000, .ack = 1000});
    EXPECT_EQ(settled(talk, half, Bytes::BeginHalf).kind, Kind::Reset);
    EXPECT_TRUE(settled(talk, half, Bytes::Begin).began);
    // And later on the same connection.
    for (const bool at_next : {true, false}) {
        const test::Said later{.seq = at_next ? 1000U : 1005U, .ack = 2000, .payload = 9};
        TrackVerdict verdict = talk.client(later);
        EXPECT_TRUE(verdict.readable && verdict.may_miss_some);
        talk.tracker.refuse_half(talk.segment(later, true), verdict);
        EXPECT_EQ(verdict.kind, at_next ? Kind::Reset : Kind::Drop);
    }
}

TEST(TrackMidstream, IsDecidedByWhatBegins) {
    Dialogue talk;
    const test::Said said{.seq = 1, .ack = 1, .payload = 5};
    const TrackVerdict asked = talk.client(said);
    EXPECT_EQ(asked.kind, Kind::Inspect);
    EXPECT_TRUE(asked.readable && asked.midstream);
    expect_probe(talk.settle(said, Bytes::Begin));
    expect_drop(talk.settle(said, Bytes::BeginNone), TrackReason::Midstream);
    EXPECT_EQ(talk.tracker.counters().of(TrackReason::Midstream), 1U);
    // A segment without bytes begins nothing and passes.
    expect_pass(talk.client({.seq = 1, .ack = 1}), false);
    expect_pass(talk.client({.seq = 1, .flags = kTcpRst}), false);
}

TEST(TrackMidstream, IsResetWhereTheServerAcknowledgesThatNumber) {
    for (const MidstreamPolicy policy : {MidstreamPolicy::Inspect, MidstreamPolicy::Reset}) {
        Dialogue talk;
        talk.policies[0].midstream = policy;
        const auto refused = [&](std::uint32_t seq) {
            const test::Said said{.seq = seq, .ack = 1, .payload = 5};
            const TrackVerdict verdict = talk.client(said);
            return verdict.kind == Kind::Inspect ? talk.settle(said, Bytes::BeginNone) : verdict;
        };
        expect_drop(refused(1000), TrackReason::Midstream);
        expect_pass(talk.server({.seq = 1, .ack = 1000, .payload = 5}), false);
        expect_drop(refused(999), TrackReason::Midstream);
        expect_drop(refused(1001), TrackReason::Midstream);
        EXPECT_EQ(refused(1000).kind, Kind::Reset);
        EXPECT_EQ(refused(1000).reason, TrackReason::MidstreamReset);
        // A sender that knows that number alone has guessed it.
        const test::Said blind{.seq = 1000, .ack = 700'000, .payload = 5};
        const TrackVerdict verdict = talk.client(blind);
        expect_drop(verdict.kind == Kind::Inspect ? talk.settle(blind, Bytes::BeginNone) : verdict,
                    TrackReason::Midstream);
    }
}

TEST(TrackMidstream, IsTakenUpByWhoKnowsBothNumbers) {
    Dialogue talk;
    talk.policies[0].grace_until = at_millisecond(60'000);
    talk.client({.seq = 1000, .ack = 2000, .payload = 5});
    talk.server({.seq = 2000, .ack = 1005, .payload = 50});
    const TrackVerdict verdict = settled(talk, {.seq = 1005, .ack = 2050, .payload = 5});
    expect_pass(verdict, true);
    EXPECT_TRUE(verdict.began && verdict.midstream && verdict.established);
    EXPECT_NE(verdict.id, 0U);
    EXPECT_EQ(verdict.first, talk.client_iss + 1005);
    // The connection goes on behind the grace, and is followed as others are.
    talk.now = 120'000;
    const TrackVerdict later = talk.client({.seq = 1010, .ack = 2050, .payload = 500});
    expect_pass(later, true);
    EXPECT_EQ(later.id, verdict.id);
    EXPECT_FALSE(later.began);
    expect_drop(talk.client({.seq = 1010, .ack = 2050 + (std::uint32_t{1} << 23), .payload = 5}),
                TrackReason::AckUnsent);
    expect_pass(talk.server({.seq = 2050, .ack = 1510, .payload = 9}), true);
    EXPECT_TRUE(talk.client({.seq = 1510, .flags = kTcpRst}).ended);
}

TEST(TrackMidstream, ARequestThatBeginsThereIsFollowed) {
    Dialogue talk;
    const test::Said first{.seq = 1000, .ack = 2000, .payload = 5};
    expect_probe(settled(talk, first, Bytes::Begin));
    talk.server({.seq = 2000, .ack = 1005, .payload = 50});
    const test::Said next{.seq = 1005, .ack = 2050, .payload = 5};
    EXPECT_EQ(talk.client(next).kind, Kind::Inspect);
    EXPECT_TRUE(talk.settle(next, Bytes::Begin).began);
    expect_pass(talk.client({.seq = 1010, .ack = 2050, .payload = 5}), true);
}

// Whoever knows no numbers makes no connection, resets none, and changes none.
TEST(TrackMidstream, StrangersTakeUpNothing) {
    Dialogue talk;
    talk.client({.seq = 1000, .ack = 2000, .payload = 5});
    talk.server({.seq = 2000, .ack = 1005, .payload = 50});
    std::mt19937_64 chance{1};
    for (int i = 0; i < 100'000; ++i) {
        const test::Said said{.seq = static_cast<std::uint32_t>(chance()),
                              .ack = static_cast<std::uint32_t>(chance()),
                              .payload = 10};
        const bool followed = (chance() & 1) != 0;
        ASSERT_EQ(talk.client(said).kind, Kind::Inspect);
        const TrackVerdict verdict = talk.settle(said, followed ? Bytes::Begin : Bytes::BeginNone);
        ASSERT_FALSE(verdict.began || verdict.readable || verdict.is_probe);
        ASSERT_NE(verdict.kind, Kind::Reset);
    }
    const test::Said next{.seq = 1005, .ack = 2050, .payload = 5};
    EXPECT_EQ(talk.settle(next, Bytes::BeginNone).kind, Kind::Reset);
    EXPECT_TRUE(talk.settle(next, Bytes::Begin).began);
}

TEST(TrackMidstream, PassPassesAndMayBeRead) {
    Dialogue talk;
    talk.policies[0].midstream = MidstreamPolicy::Pass;
    expect_pass(talk.client({.seq = 1, .ack = 1, .payload = 5}), true);
    talk.server({.seq = 1, .ack = 6, .payload = 5});
    EXPECT_TRUE(talk.client({.seq = 6, .ack = 6, .payload = 5}).began);
}

// A forged SYN at a connection that was forgotten.
TEST(TrackMidstream, ASynDoesNotHoldAConnectionThatNobodyKnows) {
    Dialogue talk;
    talk.policies[0].midstream = MidstreamPolicy::Pass;
    talk.syn();
    expect_pass(talk.server({.seq = 5000, .ack = 7000}), false);  // the server's challenge
    expect_pass(talk.client({.seq = 7000, .ack = 5000, .payload = 10}), true);
    expect_pass(talk.server({.seq = 5000, .ack = 7010}), false);
    EXPECT_TRUE(talk.client({.seq = 7010, .ack = 5000, .payload = 10}).began);
}

TEST(TrackMidstream, ANewHandshakeReplacesIt) {
    Dialogue talk;
    talk.client({.seq = 1000, .ack = 2000, .payload = 5});
    talk.client_iss = 5;
    talk.server_iss = 6;
    const TrackVerdict verdict = talk.handshake();
    EXPECT_TRUE(verdict.began);
    EXPECT_FALSE(verdict.midstream);
}

TEST(TrackMidstream, WhatPassedUnseenMakesConnectionsUnknown) {
    Dialogue talk;
    talk.policies[0].grace_until = at_millisecond(60'000);
    talk.handshake();
    talk.now = 1000;
    talk.tracker.note_unseen(at_millisecond(1000));
    const TrackVerdict verdict = settled(talk, {.seq = 500'000, .ack = 700'000, .payload = 5});
    expect_probe(verdict);
    EXPECT_TRUE(verdict.midstream);
    EXPECT_EQ(talk.tracker.counters().of(TrackEvent::Unseen), 1U);
}

class OneWay : public testing::Test {
protected:
    OneWay() { talk.policies[0].inbound_only = true; }
    Dialogue talk;
};

TEST_F(OneWay, TheServersNumberIsWhatTheClientAcknowledgesFirst) {
    talk.syn();
    const TrackVerdict verdict = talk.client({.seq = 1, .ack = 1});
    expect_pass(verdict, false);
    EXPECT_TRUE(verdict.began);
    EXPECT_FALSE(verdict.established) << "nothing proves it";
    const TrackVerdict data = talk.client({.seq = 1, .ack = 1, .payload = 1'000'000});
    expect_pass(data, true);
    EXPECT_EQ(data.id, verdict.id);
    EXPECT_EQ(data.first, talk.client_iss + 1);
    expect_pass(talk.client({.seq = 1, .ack = 90'000, .payload = 100}), true);
    expect_drop(talk.client({.seq = 1, .ack = 0x8000'0000, .payload = 5}),
                TrackReason::OutOfWindow);
    expect_drop(talk.client({.seq = 0x8000'0000, .ack = 1, .payload = 5}),
                TrackReason::OutOfWindow);
}

TEST_F(OneWay, EndsByFinOrTheExactRst) {
    for (const bool fin : {true, false}) {
        talk.client_iss += 1'000'000'000;
        talk.server_iss += 1'000'000'000;
        EXPECT_TRUE(talk.handshake().began);
        talk.client({.seq = 1, .ack = 1, .payload = 100});
        EXPECT_FALSE(talk.client({.seq = 90, .flags = kTcpRst}).ended);
        const test::Said end{
            .seq = 101, .ack = 1, .flags = fin ? std::uint16_t{kTcpFin | kTcpAck} : kTcpRst};
        EXPECT_TRUE(talk.client(end).ended);
        expect_drop(talk.client({.seq = 101, .ack = 1, .payload = 5}),
                    fin ? TrackReason::BehindFin : TrackReason::BehindReset);
    }
}

TEST_F(OneWay, ASynOnALivingConnectionChangesNothing) {
    const std::uint64_t id = talk.handshake().id;
    const std::uint32_t old_client = talk.client_iss;
    const std::uint32_t old_server = talk.server_iss;
    talk.client_iss = 1'000'000'000;
    talk.server_iss = 2'000'000'000;
    talk.syn();
    EXPECT_EQ(talk.client({.seq = 1, .ack = 1, .payload = 5}).kind, Kind::Inspect);
    talk.client_iss = old_client;
    talk.server_iss = old_server;
    const TrackVerdict verdict = talk.client({.seq = 1, .ack = 1, .payload = 5});
    expect_pass(verdict, true);
    EXPECT_EQ(verdict.id, id);
}

TEST_F(OneWay, BeginsOnPortsOfAnUnknownConnection) {
    talk.policies[0].grace_until = at_millisecond(60'000);
    expect_pass(talk.client({.seq = 5000, .ack = 6000, .payload = 5}), true);
    talk.syn();
    const TrackVerdict verdict = talk.client({.seq = 1, .ack = 1, .payload = 5});
    expect_pass(verdict, true);
    EXPECT_TRUE(verdict.began);
    EXPECT_FALSE(verdict.midstream);
}

TEST_F(OneWay, BothDirectionsCountOnceTheOperatorSaysSo) {
    const std::uint64_t id = talk.handshake().id;
    talk.policies[0].inbound_only = false;
    talk.client_iss = 1'000'000'000;
    talk.server_iss = 2'000'000'000;
    const TrackVerdict verdict = talk.handshake();
    EXPECT_TRUE(verdict.began && verdict.established);
    EXPECT_NE(verdict.id, id);
}

}  // namespace
}  // namespace sluice::track_midstream_test
