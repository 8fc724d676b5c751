#include "tests/unit/l7/stream/track/dialogue.hpp"

namespace sluice::track_handshake_test {
namespace {

using test::Dialogue;
using test::expect_drop;
using test::expect_pass;
using test::Kind;

constexpr std::uint16_t kSynAck = kTcpSyn | kTcpAck;

TEST(TrackHandshake, BeginsWhereTheClientAcknowledgesTheServersNumber) {
    Dialogue talk;
    const TrackVerdict syn = talk.syn();
    expect_pass(syn, false);
    EXPECT_EQ(syn.id, 0U);
    EXPECT_TRUE(syn.from_client);
    const TrackVerdict answer = talk.syn_ack();
    expect_pass(answer, false);
    EXPECT_EQ(answer.id, 0U);
    EXPECT_FALSE(answer.from_client);
    EXPECT_EQ(answer.service, 0);
    EXPECT_FALSE(answer.established);

    const TrackVerdict last = talk.client({.seq = 1, .ack = 1});
    expect_pass(last, false);
    EXPECT_TRUE(last.began && last.established && !last.midstream);
    EXPECT_NE(last.id, 0U);
    EXPECT_EQ(last.first, talk.client_iss + 1);

    const TrackVerdict data = talk.client({.seq = 1, .ack = 1, .payload = 100});
    expect_pass(data, true);
    EXPECT_FALSE(data.began);
    EXPECT_EQ(data.id, last.id);
    EXPECT_EQ(data.take_from, talk.client_iss + 1);
    const TrackVerdict reply = talk.server({.seq = 1, .ack = 101, .payload = 200});
    expect_pass(reply, true);
    EXPECT_EQ(reply.id, last.id);
}

TEST(TrackHandshake, DataMayCompleteIt) {
    Dialogue talk;
    talk.syn();
    talk.syn_ack();
    const TrackVerdict data = talk.client({.seq = 1, .ack = 1, .payload = 100});
    expect_pass(data, true);
    EXPECT_TRUE(data.began);
    EXPECT_NE(data.id, 0U);
}

TEST(TrackHandshake, OtherNumbersDoNotCompleteIt) {
    Dialogue talk;
    talk.syn();
    talk.syn_ack();
    for (const auto& [seq, ack] : {std::pair{1U, 0U}, {1U, 2U}, {0x8000'0000U, 1U}, {5000U, 1U}}) {
        const TrackVerdict refused = talk.client({.seq = seq, .ack = ack, .payload = 10});
        EXPECT_EQ(refused.kind, Kind::Reset);
        EXPECT_EQ(refused.reason, TrackReason::NotSynchronised);
        expect_pass(talk.client({.seq = seq, .ack = ack}), false);
    }
    EXPECT_TRUE(talk.client({.seq = 1, .ack = 1}).began);
}

TEST(TrackHandshake, ASegmentOfNoServiceIsLookedUpAlone) {
    Dialogue talk;
    const TrackVerdict verdict = talk.server({.ack = 1, .flags = kSynAck});
    EXPECT_EQ(verdict.kind, Kind::Untracked);
    EXPECT_EQ(talk.tracker.size(), 0U);
    EXPECT_FALSE(talk.tracker.may_know(talk.ends));
}

TEST(TrackHandshake, ASynOnALivingConnectionWaitsForTheServer) {
    Dialogue talk;
    const std::uint64_t id = talk.handshake().id;
    const std::uint32_t old_client = talk.client_iss;
    const std::uint32_t old_server = talk.server_iss;
    talk.client_iss = 77'000;
    expect_pass(talk.syn(), false);
    talk.client_iss = old_client;
    EXPECT_EQ(talk.client({.seq = 1, .ack = 1, .payload = 10}).id, id) << "the old one lives";

    talk.client_iss = 77'000;
    talk.server_iss = 88'000;
    const TrackVerdict answer = talk.syn_ack();
    expect_pass(answer, false);
    EXPECT_EQ(answer.replaced, 0U);
    const TrackVerdict next = talk.client({.seq = 1, .ack = 1, .payload = 10});
    expect_pass(next, true);
    EXPECT_EQ(next.replaced, id);
    EXPECT_TRUE(next.began);
    EXPECT_NE(next.id, id);
    talk.client_iss = old_client;
    talk.server_iss = old_server;
    EXPECT_EQ(talk.client({.seq = 11, .ack = 1, .payload = 10}).kind, Kind::Drop);
}

TEST(TrackHandshake, TheSameFirstNumberAgainIsAnotherConnection) {
    Dialogue talk;
    const std::uint64_t id = talk.handshake().id;
    expect_pass(talk.syn(), false);
    expect_pass(talk.syn_ack(), false);
    EXPECT_EQ(talk.client({.seq = 1, .ack = 1, .payload = 5}).id, id) << "all was repeated";
    expect_pass(talk.client({.seq = 6, .flags = kTcpRst}), false);
    talk.server({.seq = 1, .ack = 6});

    talk.syn();
    talk.server_iss += 64'000;
    talk.syn_ack();
    const TrackVerdict again = talk.client({.seq = 1, .ack = 1, .payload = 5});
    expect_pass(again, true);
    EXPECT_TRUE(again.began);
    EXPECT_NE(again.id, id);
    EXPECT_NE(again.id, 0U);
}

TEST(TrackHandshake, ASynAckAnswersASynThatWasSeen) {
    Dialogue talk;
    talk.syn();
    expect_drop(talk.server({.ack = 2, .flags = kSynAck}), TrackReason::SynAckUnasked);
    expect_drop(talk.server({.flags = kTcpSyn}), TrackReason::SplitHandshake);
    expect_drop(talk.client({.ack = 1, .flags = kSynAck}), TrackReason::SplitHandshake);
    expect_drop(talk.server({.seq = 0, .ack = 1}), TrackReason::SplitHandshake);
    expect_pass(talk.server({.seq = 5000, .ack = 4000}), false);  // it challenges the SYN
    EXPECT_EQ(talk.syn_ack().kind, Kind::Pass);
    talk.client({.seq = 1, .ack = 1});
    expect_drop(talk.server({.seq = 9, .ack = 1, .flags = kSynAck}), TrackReason::SynAckUnasked);
}

// The victim of a forged SYN refuses what its server has begun, and goes on.
TEST(TrackHandshake, AHandshakeBesideALivingConnectionEndsNothing) {
    for (const bool by_client : {true, false}) {
        Dialogue talk;
        const std::uint64_t id = talk.handshake().id;
        const std::uint32_t client = talk.client_iss;
        const std::uint32_t server = talk.server_iss;
        talk.client_iss = 7;
        talk.server_iss = 1'000'000;
        talk.syn();
        talk.syn_ack();
        const test::Said reset{.seq = 1, .flags = kTcpRst};
        const TrackVerdict refused = by_client ? talk.client(reset) : talk.server(reset);
        expect_pass(refused, false);
        EXPECT_FALSE(refused.ended);
        expect_drop(talk.client({.seq = 1, .ack = 1, .payload = 10}), TrackReason::AckUnsent);
        talk.client_iss = client;
        talk.server_iss = server;
        const TrackVerdict data = talk.client({.seq = 1, .ack = 1, .payload = 10});
        expect_pass(data, true);
        EXPECT_EQ(data.id, id);
    }
}

TEST(TrackHandshake, WhatIsNoSynIsRefused) {
    Dialogue talk;
    expect_drop(talk.client({.flags = kTcpSyn, .payload = 5}), TrackReason::SynData);
    expect_drop(talk.client({.flags = kTcpSyn | kTcpFin}), TrackReason::BadFlags);
    expect_drop(talk.client({.flags = kTcpSyn | kTcpRst}), TrackReason::BadFlags);
    EXPECT_EQ(talk.tracker.size(), 0U);
}

// Somebody else's SYNs of other numbers come just before the server's answer.
TEST(TrackHandshake, OthersSynsDoNotHoldAnHonestOne) {
    Dialogue talk;
    talk.syn();
    const std::uint32_t honest = talk.client_iss;
    for (std::uint32_t i = 1; i < 100; ++i) {
        talk.client_iss = honest + i * 12'345;
        expect_pass(talk.syn(), false);
    }
    talk.client_iss = honest;
    expect_pass(talk.syn_ack(), false);
    EXPECT_TRUE(talk.client({.seq = 1, .ack = 1, .payload = 9}).began);
}

// A server with SYN cookies answers each of them, in any order.
TEST(TrackHandshake, OthersHandshakesUnderWayDoNotHoldAnHonestOne) {
    for (const bool honest_first : {true, false}) {
        Dialogue talk;
        const auto shake = [&](bool honest) {
            talk.client_iss = honest ? 1000 : 500'000;
            talk.server_iss = honest ? 2000 : 900'000;
            expect_pass(talk.syn(), false);
            expect_pass(talk.syn_ack(), false);
        };
        shake(honest_first);
        shake(!honest_first);
        talk.client_iss = 1000;
        talk.server_iss = 2000;
        const TrackVerdict data = talk.client({.seq = 1, .ack = 1, .payload = 9});
        expect_pass(data, true);
        EXPECT_TRUE(data.began);
        EXPECT_EQ(data.first, 1001U);
    }
}

TEST(TrackHandshake, TheVictimOfAForgedSynRefusesIt) {
    Dialogue talk;
    talk.syn();
    talk.syn_ack();
    expect_pass(talk.client({.seq = 1, .flags = kTcpRst}), false);
    EXPECT_EQ(talk.tracker.size_of(TrackClass::Closed), 1U);
    talk.client_iss = 7;
    talk.server_iss = 9;
    EXPECT_TRUE(talk.handshake().began);
}

TEST(TrackHandshake, TheServerRefusesAPort) {
    Dialogue talk;
    talk.syn();
    const TrackVerdict refused = talk.raw({.ends = talk.ends,
                                           .from_low = !talk.client_is_low,
                                           .ack = talk.client_iss + 1,
                                           .flags = kTcpRst | kTcpAck});
    expect_pass(refused, false);
    EXPECT_EQ(talk.tracker.size(), 0U);
}

TEST(TrackHandshake, TheServerRefusesANewConnectionBesideALivingOne) {
    Dialogue talk;
    const std::uint64_t id = talk.handshake().id;
    const std::uint32_t old = talk.client_iss;
    talk.client_iss = 5'000'000;
    talk.syn();
    const TrackVerdict refused = talk.raw({.ends = talk.ends,
                                           .from_low = !talk.client_is_low,
                                           .ack = talk.client_iss + 1,
                                           .flags = kTcpRst | kTcpAck});
    expect_pass(refused, false);
    EXPECT_FALSE(refused.ended);
    talk.client_iss = old;
    EXPECT_EQ(talk.client({.seq = 1, .ack = 1, .payload = 5}).id, id);
}

// A SYN whose checksum its sender has left to its adapter.
TrackVerdict unfinished_syn(Dialogue& talk) {
    TrackedSegment segment = talk.segment({.flags = kTcpSyn}, true);
    segment.checksum_unfinished = true;
    return talk.raw(segment);
}

TrackVerdict unfinished(Dialogue& talk, const test::Said& said) {
    TrackedSegment segment = talk.segment(said, true);
    segment.checksum_unfinished = true;
    return talk.raw(segment);
}

TEST(TrackHandshake, AServersAnswerShowsThatItTakesUnfinishedSums) {
    Dialogue talk;
    expect_pass(unfinished_syn(talk), false);
    expect_pass(unfinished_syn(talk), false);
    EXPECT_FALSE(talk.tracker.takes_unfinished(talk.ends));
    EXPECT_FALSE(talk.syn_ack().client_sums_proven);
    EXPECT_TRUE(talk.tracker.takes_unfinished(talk.ends));
    unfinished(talk, {.seq = 1, .ack = 1});
    unfinished(talk, {.seq = 1, .ack = 1, .payload = 10});
    EXPECT_FALSE(talk.server({.seq = 1, .ack = 1}).client_sums_proven) << "no byte is taken";
    const TrackVerdict taken = talk.server({.seq = 1, .ack = 11});
    EXPECT_TRUE(taken.client_sums_proven);
    EXPECT_FALSE(taken.server_sums_proven);
    EXPECT_EQ(taken.proven_by, talk.source);
    EXPECT_FALSE(talk.server({.seq = 1, .ack = 11}).client_sums_proven) << "once is enough";
}

// Its server may have taken the copy that came right.
TEST(TrackHandshake, BytesThatCameRightTooProveNothing) {
    Dialogue talk;
    unfinished_syn(talk);
    talk.syn_ack();
    unfinished(talk, {.seq = 1, .ack = 1, .payload = 10});
    talk.client({.seq = 1, .ack = 1, .payload = 10});
    EXPECT_FALSE(talk.server({.seq = 1, .ack = 11}).client_sums_proven);
    EXPECT_TRUE(talk.tracker.takes_unfinished(talk.ends));
}

// A handshake that waits beside a connection, of which the same is known.
TEST(TrackHandshake, UnfinishedSumsAreOfTheHandshakeThatTheyCameIn) {
    Dialogue talk;
    talk.handshake();
    EXPECT_FALSE(talk.tracker.takes_unfinished(talk.ends));
    talk.client_iss += 70'000;
    talk.server_iss += 9000;
    unfinished_syn(talk);
    talk.syn_ack();
    EXPECT_TRUE(talk.tracker.takes_unfinished(talk.ends));
    EXPECT_NE(unfinished(talk, {.seq = 1, .ack = 1, .payload = 10}).replaced, 0U);
    EXPECT_TRUE(talk.server({.seq = 1, .ack = 11}).client_sums_proven);
    talk.client_iss += 70'000;
    talk.server_iss += 9000;
    talk.handshake();
    EXPECT_FALSE(talk.tracker.takes_unfinished(talk.ends));
}

TEST(TrackHandshake, AClientsAnswerProvesThatItTakesUnfinishedSums) {
    Dialogue talk;
    talk.syn();
    TrackedSegment answer = talk.segment({.ack = 1, .flags = kSynAck}, false);
    answer.checksum_unfinished = true;
    EXPECT_FALSE(talk.raw(answer).server_sums_proven);
    EXPECT_TRUE(talk.client({.seq = 1, .ack = 1}).server_sums_proven);
    EXPECT_FALSE(talk.client({.seq = 1, .ack = 1}).server_sums_proven);
}

// A server that answers a SYN which came right proves nothing about another one beside it, whatever
// the order, and whatever has been forgotten.
TEST(TrackHandshake, AnAnswerToAWholeSumProvesNothing) {
    const auto proves = [](Dialogue& talk) {
        talk.syn_ack();
        return talk.tracker.takes_unfinished(talk.ends);
    };
    Dialogue behind;
    behind.syn();
    unfinished_syn(behind);
    EXPECT_FALSE(proves(behind));
    Dialogue before;
    unfinished_syn(before);
    before.syn();
    EXPECT_FALSE(proves(before));
    Dialogue beside;
    beside.syn();
    beside.client({.seq = 5000, .flags = kTcpSyn});
    unfinished_syn(beside);
    EXPECT_FALSE(proves(beside));
    Dialogue flooded;
    flooded.syn();
    for (std::uint64_t other = 1; other <= 40; ++other) {
        flooded.ends = other * 0x9E37'79B9'7F4A'7C15;
        flooded.syn();
    }
    flooded.ends = test::kEnds;
    unfinished_syn(flooded);
    EXPECT_FALSE(proves(flooded));
    Dialogue unseen;
    unseen.tracker.note_unseen(test::at_millisecond(0));
    unseen.now = 1000;
    unfinished_syn(unseen);
    EXPECT_FALSE(proves(unseen));
    unseen.ends += 1;
    unseen.now = 62'000;
    unfinished_syn(unseen);
    EXPECT_TRUE(proves(unseen));
}

}  // namespace
}  // namespace sluice::track_handshake_test
