#include "tests/unit/l7/stream/track/dialogue.hpp"

#include <string>
#include <vector>

namespace sluice::track_stream_test {
namespace {

using test::Dialogue;
using test::expect_drop;
using test::expect_pass;
using test::Kind;
using test::Said;

enum class Who : std::uint8_t { Client, Server };

struct Step {
    Who who;
    Said said;
    TrackReason refusal = TrackReason::None;
    bool readable = false;
};

struct Row {
    std::string name;
    std::vector<Step> steps;
};

constexpr std::uint16_t kFinAck = kTcpFin | kTcpAck;
constexpr std::uint16_t kRst = kTcpRst;

constexpr TrackReason kNone = TrackReason::None;
constexpr TrackReason kOld = TrackReason::OldTimestamp;
constexpr TrackedTimestamps stamp(std::uint32_t value) {
    return {.value = value};
}
constexpr TrackedTimestamps echo(std::uint32_t value) {
    return {.value = 1, .echo = value};
}

// Each after a handshake with windows of 1000 bytes, not scaled.
const std::vector<Row> kRows{
    {"data in the window, in any order, as often as the client likes",
     {{Who::Client, {.seq = 501, .ack = 1, .payload = 500}, TrackReason::None, true},
      {Who::Client, {.seq = 1, .ack = 1, .payload = 500}, TrackReason::None, true},
      {Who::Client, {.seq = 1, .ack = 1, .payload = 500}, TrackReason::None, true}}},
    {"data beyond the window, or straddling its edge",
     {{Who::Client, {.seq = 1, .ack = 1, .payload = 1001}, TrackReason::BeyondWindow},
      {Who::Client, {.seq = 1001, .ack = 1, .payload = 1}, TrackReason::BeyondWindow},
      {Who::Client, {.seq = 502, .ack = 1, .payload = 500}, TrackReason::BeyondWindow},
      {Who::Client, {.seq = 1, .ack = 1, .payload = 1000}, TrackReason::None, true}}},
    {"the window moves with the server's acknowledgement",
     {{Who::Client, {.seq = 1, .ack = 1, .payload = 1000}, TrackReason::None, true},
      {Who::Server, {.seq = 1, .ack = 1001, .window = 500}},
      {Who::Client, {.seq = 1001, .ack = 1, .payload = 501}, TrackReason::BeyondWindow},
      {Who::Client, {.seq = 1001, .ack = 1, .payload = 500}, TrackReason::None, true}}},
    {"the edge never moves left",
     {{Who::Server, {.seq = 1, .ack = 1, .window = 10}},
      {Who::Client, {.seq = 1, .ack = 1, .payload = 1000}, TrackReason::None, true}}},
    {"one byte at a closed window",
     {{Who::Client, {.seq = 1, .ack = 1, .payload = 1000}, TrackReason::None, true},
      {Who::Client, {.seq = 1001, .ack = 1, .payload = 1}, TrackReason::BeyondWindow},
      {Who::Server, {.seq = 1, .ack = 1001, .window = 0}},
      {Who::Client, {.seq = 1001, .ack = 1, .payload = 2}, TrackReason::BeyondWindow},
      {Who::Client, {.seq = 1001, .ack = 1, .payload = 1}, TrackReason::None, true},
      {Who::Client, {.seq = 1002, .ack = 1, .payload = 1}, TrackReason::BeyondWindow},
      {Who::Server, {.seq = 1, .ack = 1002, .window = 0}},
      {Who::Client, {.seq = 1002, .ack = 1, .payload = 1}, TrackReason::None, true}}},
    {"what the server has acknowledged passes and is read no more",
     {{Who::Client, {.seq = 1, .ack = 1, .payload = 100}, TrackReason::None, true},
      {Who::Server, {.seq = 1, .ack = 101}},
      {Who::Client, {.seq = 1, .ack = 1, .payload = 100}},
      {Who::Client, {.seq = 51, .ack = 1, .payload = 50}},
      {Who::Client, {.seq = 51, .ack = 1, .payload = 51}, TrackReason::None, true}}},
    {"a keep-alive probe",
     {{Who::Client, {.seq = 0, .ack = 1, .payload = 1}},
      {Who::Client, {.seq = 0, .ack = 1}},
      {Who::Client, {.seq = 0xFFFF'FFFF, .ack = 1}, TrackReason::OutOfWindow}}},
    {"bytes of an older timestamp than the server has echoed",
     {{Who::Client, {.seq = 1, .ack = 1, .payload = 5, .timestamps = stamp(100)}, kNone, true},
      {Who::Client, {.seq = 1, .ack = 1, .payload = 5, .timestamps = stamp(90)}, kNone, true},
      {Who::Server, {.seq = 1, .ack = 1, .timestamps = echo(100)}},
      {Who::Client, {.seq = 1, .ack = 1, .payload = 5, .timestamps = stamp(99)}, kOld},
      {Who::Client, {.seq = 6, .ack = 1, .payload = 5, .timestamps = stamp(0x8000'0065)}, kOld},
      {Who::Client, {.seq = 6, .ack = 1, .flags = kFinAck, .timestamps = stamp(99)}, kOld},
      {Who::Client, {.seq = 1, .ack = 1, .timestamps = stamp(99)}},
      {Who::Server, {.seq = 1, .ack = 1, .timestamps = echo(98)}},
      {Who::Client, {.seq = 1, .ack = 1, .payload = 5, .timestamps = stamp(99)}, kOld},
      {Who::Client, {.seq = 1, .ack = 1, .payload = 5, .timestamps = stamp(100)}, kNone, true},
      {Who::Client, {.seq = 1, .ack = 1, .payload = 5}, kNone, true},
      {Who::Server, {.seq = 1, .ack = 6, .timestamps = echo(101)}},
      {Who::Client, {.seq = 1, .ack = 1, .payload = 5, .timestamps = stamp(90)}},
      {Who::Client, {.seq = 6, .ack = 1, .payload = 5, .timestamps = stamp(100)}, kOld},
      {Who::Server, {.seq = 1, .ack = 6, .payload = 5, .timestamps = stamp(0)}, kNone, true}}},
    {"data without ACK",
     {{Who::Client, {.seq = 1, .flags = 0, .payload = 5}, TrackReason::NoAck},
      {Who::Client, {.seq = 1, .flags = kTcpFin}, TrackReason::NoAck}}},
    {"acknowledging what the server never sent",
     {{Who::Client, {.seq = 1, .ack = 2, .payload = 5}, TrackReason::AckUnsent},
      {Who::Server, {.seq = 1, .ack = 1, .payload = 100}, TrackReason::None, true},
      {Who::Client, {.seq = 1, .ack = 102, .payload = 5}, TrackReason::AckUnsent},
      {Who::Client, {.seq = 1, .ack = 0, .payload = 5}, TrackReason::AckTooOld},
      {Who::Client, {.seq = 1, .ack = 101, .payload = 5}, TrackReason::None, true},
      {Who::Client, {.seq = 1, .ack = 1, .payload = 5}, TrackReason::None, true}}},
    {"acknowledging half of all numbers away",
     {{Who::Client, {.seq = 1, .ack = 0x8000'0001, .payload = 5}, TrackReason::AckTooOld},
      {Who::Server, {.seq = 1, .ack = 0x8000'0001}, TrackReason::AckTooOld},
      {Who::Server, {.seq = 1, .ack = 1, .payload = 5}, TrackReason::None, true}}},
    {"an acknowledgement more than a window behind",
     {{Who::Server, {.seq = 1, .ack = 1, .payload = 1000}, TrackReason::None, true},
      {Who::Client, {.seq = 1, .ack = 1001}},
      {Who::Server, {.seq = 1001, .ack = 1, .payload = 1000}, TrackReason::None, true},
      {Who::Client, {.seq = 1, .ack = 2001}},
      {Who::Client, {.seq = 1, .ack = 1000, .payload = 5}, TrackReason::AckTooOld},
      {Who::Client, {.seq = 1, .ack = 1001, .payload = 5}, TrackReason::None, true}}},
    {"the server acknowledging what the client never sent",
     {{Who::Server, {.seq = 1, .ack = 2}, TrackReason::AckUnsent}}},
    {"a RST of the next number",
     {{Who::Client, {.seq = 1, .flags = kRst}},
      {Who::Client, {.seq = 1, .ack = 1, .payload = 5}, TrackReason::BehindReset},
      {Who::Client, {.seq = 1, .flags = kRst}},
      {Who::Server, {.seq = 1, .ack = 1, .payload = 5}},
      {Who::Client, {.seq = 1, .flags = kRst}},
      {Who::Client, {.seq = 5000, .flags = kRst}, TrackReason::ResetOutOfWindow}}},
    {"a RST in the window changes nothing, another is dropped",
     {{Who::Client, {.seq = 2, .flags = kRst}},
      {Who::Client, {.seq = 1000, .flags = kRst}},
      {Who::Client, {.seq = 0, .flags = kRst}, TrackReason::ResetOutOfWindow},
      {Who::Client, {.seq = 1004, .flags = kRst}, TrackReason::ResetOutOfWindow},
      {Who::Client, {.seq = 1, .ack = 1, .payload = 5}, TrackReason::None, true},
      {Who::Server, {.seq = 700, .flags = kRst}},
      {Who::Server, {.seq = 0, .flags = kRst}, TrackReason::ResetOutOfWindow},
      {Who::Server, {.seq = 1, .ack = 6, .payload = 5}, TrackReason::None, true}}},
    {"the next number is what the server says it is",
     {{Who::Client, {.seq = 1, .ack = 1, .payload = 100}, TrackReason::None, true},
      {Who::Client, {.seq = 101, .flags = kRst}},
      {Who::Client, {.seq = 101, .ack = 1, .payload = 5}, TrackReason::None, true},
      {Who::Server, {.seq = 1, .ack = 106}},
      {Who::Client, {.seq = 106, .flags = kRst}},
      {Who::Client, {.seq = 106, .ack = 1, .payload = 5}, TrackReason::BehindReset}}},
    {"a RST before bytes that are on their way changes nothing",
     {{Who::Client, {.seq = 1, .ack = 1, .payload = 100}, TrackReason::None, true},
      {Who::Client, {.seq = 1, .flags = kRst}},
      {Who::Client, {.seq = 101, .ack = 1, .payload = 5}, TrackReason::None, true},
      {Who::Server, {.seq = 1, .ack = 101}},
      {Who::Client, {.seq = 101, .ack = 1, .payload = 5}, TrackReason::None, true}}},
    {"the server's RST behind data that is under way",
     {{Who::Server, {.seq = 1, .ack = 1, .payload = 100}, TrackReason::None, true},
      {Who::Server, {.seq = 101, .flags = kRst}},
      {Who::Server, {.seq = 1, .ack = 1, .payload = 100}},
      {Who::Server, {.seq = 101, .ack = 1, .payload = 100}, TrackReason::BehindReset},
      {Who::Client, {.seq = 1, .ack = 5000, .payload = 5}, TrackReason::BehindReset}}},
    {"nothing passes behind a FIN, and all before it does",
     {{Who::Client, {.seq = 1, .ack = 1, .flags = kFinAck, .payload = 100}, {}, true},
      {Who::Client, {.seq = 101, .ack = 1, .payload = 5}, TrackReason::BehindFin},
      {Who::Client, {.seq = 51, .ack = 1, .payload = 51}, TrackReason::BehindFin},
      {Who::Client, {.seq = 103, .ack = 1}, TrackReason::BehindFin},
      {Who::Client, {.seq = 1, .ack = 1, .payload = 100}, TrackReason::None, true},
      {Who::Client, {.seq = 102, .ack = 1}},
      {Who::Client, {.seq = 101, .ack = 1, .flags = kFinAck}},
      {Who::Server, {.seq = 1, .ack = 102, .payload = 100}, TrackReason::None, true},
      {Who::Client, {.seq = 102, .ack = 101}}}},
    {"a FIN ahead of a gap is remembered",
     {{Who::Client, {.seq = 101, .ack = 1, .flags = kFinAck, .payload = 100}, {}, true},
      {Who::Client, {.seq = 1, .ack = 1, .payload = 100}, TrackReason::None, true},
      {Who::Client, {.seq = 201, .ack = 1, .payload = 5}, TrackReason::BehindFin},
      {Who::Client, {.seq = 51, .ack = 1, .flags = kFinAck, .payload = 50}, TrackReason::FinMoved},
      {Who::Client, {.seq = 201, .ack = 1, .flags = kFinAck}}}},
    {"a FIN before bytes that were sent",
     {{Who::Client, {.seq = 1, .ack = 1, .payload = 100}, TrackReason::None, true},
      {Who::Client, {.seq = 51, .ack = 1, .flags = kFinAck}, TrackReason::FinMoved},
      {Who::Client, {.seq = 101, .ack = 1, .payload = 5}, TrackReason::None, true}}},
    {"a FIN at a closed window",
     {{Who::Client, {.seq = 1, .ack = 1, .payload = 1000}, TrackReason::None, true},
      {Who::Server, {.seq = 1, .ack = 1001, .window = 0}},
      {Who::Client, {.seq = 1001, .ack = 1, .flags = kFinAck}},
      {Who::Client, {.seq = 1002, .ack = 1}}}},
};

TEST(TrackStream, Rows) {
    for (const Row& row : kRows) {
        SCOPED_TRACE(row.name);
        Dialogue talk;
        const std::uint64_t id = talk.handshake().id;
        for (std::size_t i = 0; i < row.steps.size(); ++i) {
            SCOPED_TRACE("step " + std::to_string(i));
            const Step& step = row.steps[i];
            const TrackVerdict verdict =
                step.who == Who::Client ? talk.client(step.said) : talk.server(step.said);
            EXPECT_EQ(verdict.id, id);
            step.refusal == TrackReason::None ? expect_pass(verdict, step.readable)
                                              : expect_drop(verdict, step.refusal);
        }
    }
}

TEST(TrackStream, WindowsAreScaledIfBothSidesOfferedIt) {
    for (const bool both : {true, false}) {
        Dialogue talk;
        talk.syn(1000, both ? std::optional<std::uint8_t>{2} : std::nullopt);
        talk.syn_ack(1000, 3);
        talk.client({.seq = 1, .ack = 1, .window = 500});
        expect_drop(talk.client({.seq = 1, .ack = 1, .payload = 1001}), TrackReason::BeyondWindow);
        talk.server({.seq = 1, .ack = 1, .window = 500});
        const TrackVerdict verdict = talk.client({.seq = 1, .ack = 1, .payload = 4000});
        if (both) {
            expect_pass(verdict, true);
            expect_drop(talk.client({.seq = 1, .ack = 1, .payload = 4001}),
                        TrackReason::BeyondWindow);
            expect_pass(talk.server({.seq = 1, .ack = 1, .payload = 2000}), true);
        } else {
            expect_drop(verdict, TrackReason::BeyondWindow);
            expect_drop(talk.server({.seq = 1, .ack = 1, .payload = 2000}),
                        TrackReason::BeyondWindow);
        }
    }
}

TEST(TrackStream, AWrongChecksumAndAFragmentChangeNothing) {
    Dialogue talk;
    const std::uint64_t id = talk.handshake().id;
    for (const bool fragment : {false, true}) {
        for (const std::uint16_t flags : {kRst, kFinAck, kTcpSyn, kTcpAck}) {
            TrackedSegment damaged = talk.segment({.seq = 1, .ack = 1, .flags = flags}, true);
            damaged.checksum_wrong = !fragment;
            damaged.is_fragment = fragment;
            expect_drop(talk.raw(damaged),
                        fragment ? TrackReason::Fragment : TrackReason::ChecksumWrong);
        }
    }
    const TrackVerdict data = talk.client({.seq = 1, .ack = 1, .payload = 5});
    expect_pass(data, true);
    EXPECT_EQ(data.id, id);
    TrackedSegment unknown = talk.segment({.seq = 1, .ack = 1, .payload = 5}, true);
    unknown.ends = 77;
    unknown.checksum_wrong = true;
    expect_drop(talk.raw(unknown), TrackReason::ChecksumWrong);
    unknown.service = kNoService;
    EXPECT_EQ(talk.raw(unknown).kind, Kind::Untracked);
}

TEST(TrackStream, UrgentDataAndShortLivedSegmentsOfClientsAreRewritten) {
    Dialogue talk;
    talk.handshake();
    TrackedSegment segment = talk.segment({.seq = 1, .ack = 1, .payload = 5}, true);
    EXPECT_FALSE(talk.raw(segment).clear_urgent || talk.raw(segment).raise_ttl);
    segment.urgent = 3;
    EXPECT_TRUE(talk.raw(segment).clear_urgent);
    segment.urgent = 0;
    segment.flags |= kTcpUrg;
    segment.ttl = 31;
    const TrackVerdict verdict = talk.raw(segment);
    EXPECT_TRUE(verdict.clear_urgent && verdict.raise_ttl);
    expect_pass(verdict, true);
    TrackedSegment server = talk.segment({.seq = 1, .ack = 1, .payload = 5}, false);
    server.ttl = 1;
    server.urgent = 1;
    const TrackVerdict answer = talk.raw(server);
    EXPECT_FALSE(answer.clear_urgent || answer.raise_ttl);
}

TEST(TrackStream, OptionsOfClientsThatMayMoveBytesAreOverwritten) {
    Dialogue talk;
    TrackedSegment syn = talk.segment({.seq = 0, .flags = kTcpSyn}, true);
    syn.has_unknown_options = true;
    EXPECT_TRUE(talk.raw(syn).clear_options);
    talk.handshake();
    TrackedSegment segment = talk.segment({.seq = 1, .ack = 1, .payload = 5}, true);
    EXPECT_FALSE(talk.raw(segment).clear_options);
    segment.has_unknown_options = true;
    const TrackVerdict verdict = talk.raw(segment);
    EXPECT_TRUE(verdict.clear_options);
    expect_pass(verdict, true);
    TrackedSegment server = talk.segment({.seq = 1, .ack = 1, .payload = 5}, false);
    server.has_unknown_options = true;
    EXPECT_FALSE(talk.raw(server).clear_options);
}

TEST(TrackStream, EndsWhenBothFinsAreAcknowledgedInAnyOrder) {
    for (const bool client_first : {true, false}) {
        Dialogue talk;
        talk.handshake();
        const Said client{.seq = 1, .ack = 1, .flags = kFinAck};
        const Said server{.seq = 1, .ack = 1, .flags = kFinAck};
        EXPECT_FALSE((client_first ? talk.client(client) : talk.server(server)).ended);
        EXPECT_FALSE((client_first ? talk.server(server) : talk.client(client)).ended);
        EXPECT_FALSE(talk.server({.seq = 2, .ack = 2}).ended);
        const TrackVerdict last = talk.client({.seq = 2, .ack = 2});
        expect_pass(last, false);
        EXPECT_TRUE(last.ended);
        EXPECT_FALSE(talk.client({.seq = 2, .ack = 2}).ended) << "once";
        EXPECT_FALSE(talk.client({.seq = 2, .flags = kRst}).ended);
        EXPECT_EQ(talk.tracker.size_of(TrackClass::Closed), 1U);
    }
}

TEST(TrackStream, AClientBehindTheServersRstIsAnsweredByOne) {
    Dialogue talk;
    talk.handshake();
    EXPECT_TRUE(talk.server({.seq = 1, .flags = kRst}).ended);
    const TrackVerdict data = talk.client({.seq = 1, .ack = 1, .payload = 5});
    EXPECT_EQ(data.kind, Kind::Reset);
    EXPECT_EQ(data.reason, TrackReason::BehindReset);
    EXPECT_EQ(talk.client({.seq = 1, .ack = 9, .payload = 5}).kind, Kind::Drop);
}

// The server may have taken bytes that it has not acknowledged: the RST before them is out of its
// window then.
TEST(TrackStream, ARstBeforeBytesOnTheirWayEndsNothing) {
    for (const bool has_fin : {false, true}) {
        Dialogue talk;
        const std::uint64_t id = talk.handshake().id;
        talk.client({.seq = 1,
                     .ack = 1,
                     .flags = has_fin ? kFinAck : kTcpAck,
                     .payload = has_fin ? 0U : 1U});
        const TrackVerdict reset = talk.client({.seq = 1, .flags = kRst});
        expect_pass(reset, false);
        EXPECT_FALSE(reset.ended);
        EXPECT_EQ(talk.tracker.counters().of(TrackEvent::ChallengedReset), 1U);
        const TrackVerdict answer = talk.server({.seq = 1, .ack = 2});
        EXPECT_EQ(answer.id, id);
        EXPECT_FALSE(answer.began);
        EXPECT_EQ(talk.tracker.counters().of(TrackEvent::Revived), 0U);
        EXPECT_TRUE(talk.client({.seq = 2, .flags = kRst}).ended);
    }
}

// A server acknowledges within 500 ms what it has taken.
TEST(TrackStream, ARstBeforeBytesThatTheServerDidNotTakeEndsTheConnection) {
    Dialogue talk;
    talk.handshake();
    talk.client({.seq = 1, .ack = 1, .payload = 100});
    talk.now = 1'900;
    EXPECT_FALSE(talk.client({.seq = 1, .flags = kRst}).ended);
    talk.now = 2'100;
    EXPECT_TRUE(talk.client({.seq = 1, .flags = kRst}).ended);
}

TEST(TrackStream, ARstOfTheBoxEndsWhatItRefused) {
    Dialogue talk;
    talk.handshake();
    talk.client({.seq = 1, .ack = 1, .payload = 100});
    TrackedSegment reset = talk.segment({.seq = 1, .flags = kRst}, true);
    reset.is_made_here = true;
    EXPECT_TRUE(talk.raw(reset).ended);
}

// Its client has given up, and its place may have been taken.
TEST(TrackStream, AServerThatGoesOnBehindARstIsReset) {
    Dialogue talk;
    const std::uint64_t id = talk.handshake().id;
    talk.client({.seq = 1, .ack = 1, .payload = 100});
    talk.now = 3'000;
    EXPECT_TRUE(talk.client({.seq = 1, .flags = kRst}).ended);
    const TrackVerdict went_on = talk.server({.seq = 1, .ack = 101});
    EXPECT_EQ(went_on.kind, TrackVerdict::Kind::Reset);
    EXPECT_TRUE(went_on.ends_revived);
    EXPECT_EQ(went_on.id, id);
    EXPECT_EQ(talk.tracker.counters().of(TrackEvent::Revived), 1U);
    EXPECT_EQ(talk.tracker.size_of(TrackClass::Established), 0U);
    EXPECT_EQ(talk.client({.seq = 101, .ack = 1, .payload = 5}).reason, TrackReason::BehindReset);
    EXPECT_FALSE(talk.server({.seq = 1, .ack = 101}).forwards());
}

TEST(TrackStream, ARstThatTheServerDidNotExpectIsTakenBackWhereNothingIsEnforced) {
    Dialogue talk;
    talk.policies[0].enforced = false;
    talk.handshake();
    talk.client({.seq = 1, .ack = 1, .payload = 100});
    talk.now = 3'000;
    EXPECT_TRUE(talk.client({.seq = 1, .flags = kRst}).ended);
    const TrackVerdict revived = talk.server({.seq = 1, .ack = 101});
    EXPECT_TRUE(revived.began);
    EXPECT_EQ(talk.tracker.size_of(TrackClass::Established), 1U);
    EXPECT_TRUE(talk.client({.seq = 101, .flags = kRst}).ended);
}

TEST(TrackStream, TheServersWordStandsWhereNothingIsEnforced) {
    Dialogue talk;
    talk.policies[0].enforced = false;
    talk.handshake();
    expect_drop(talk.client({.seq = 1, .ack = 1, .payload = 1400}), TrackReason::BeyondWindow);
    expect_pass(talk.server({.seq = 1, .ack = 1401}), false);
    expect_pass(talk.client({.seq = 1401, .ack = 1, .payload = 100}), true);
}

TEST(TrackStream, MarksAndResetsAreForOneIdAlone) {
    Dialogue talk;
    const std::uint64_t id = talk.handshake().id;
    expect_drop(talk.client({.seq = 1, .ack = 101}), TrackReason::AckUnsent);
    expect_pass(talk.server({.seq = 1, .ack = 1, .payload = 100}), true);
    expect_pass(talk.client({.seq = 1, .ack = 101}), false);
    ASSERT_TRUE(talk.tracker.numbers(talk.ends, id).has_value());
    EXPECT_EQ(talk.tracker.numbers(talk.ends, id)->server.una, talk.server_iss + 101);
    EXPECT_FALSE(talk.tracker.numbers(talk.ends, id + 1).has_value());

    talk.tracker.mark(talk.ends, id, TrackMark::Upgraded);
    talk.tracker.mark(talk.ends, id + 1, TrackMark::Unreadable);
    const TrackVerdict marked = talk.client({.seq = 1, .ack = 101});
    EXPECT_TRUE(marked.has(TrackMark::Upgraded));
    EXPECT_FALSE(marked.has(TrackMark::Unreadable));

    talk.tracker.note_reset(talk.ends, id);
    EXPECT_EQ(talk.client({.seq = 1, .ack = 101, .payload = 5}).kind, Kind::Reset);
    EXPECT_EQ(talk.server({.seq = 101, .ack = 1, .payload = 5}).kind, Kind::Reset);
    EXPECT_EQ(talk.server({.seq = 101, .ack = 700, .payload = 5}).kind, Kind::Drop);
}

// An old connection has no number that is before its beginning.
TEST(TrackStream, ConnectionsOfManyGigabytesGoOn) {
    Dialogue talk;
    talk.syn(65'535, 14);
    talk.syn_ack(65'535, 14);
    talk.client({.seq = 1, .ack = 1, .window = 65'535});
    talk.server({.seq = 1, .ack = 1, .window = 65'535});
    const std::uint32_t stride = std::uint32_t{1} << 29;
    for (std::uint32_t i = 0; i < 40; ++i) {
        const std::uint32_t at = 1 + i * stride;
        expect_pass(talk.client({.seq = at + stride - 50'000, .ack = 1, .payload = 50'000}), true);
        expect_pass(talk.client({.seq = at, .ack = 1, .payload = 50'000}), true);
        expect_pass(talk.server({.seq = 1, .ack = at + stride, .window = 65'535}), false);
        expect_pass(talk.client({.seq = at, .ack = 1, .payload = 50'000}), false);
    }
}

// A SYN-ACK echoes the SYN's.
TEST(TrackStream, BytesOfAnOlderTimestampThanTheHandshakesAreDropped) {
    Dialogue dialogue;
    dialogue.syn();
    dialogue.server({.ack = 1, .flags = kTcpSyn | kTcpAck, .timestamps = echo(100)});
    const auto says = [&](std::uint32_t value) {
        return dialogue.client({.seq = 1, .ack = 1, .payload = 5, .timestamps = stamp(value)});
    };
    expect_drop(says(99), kOld);
    EXPECT_EQ(dialogue.tracker.counters().of(TrackEvent::Began), 0U) << "its server drops it too";
    expect_pass(says(100), true);
    EXPECT_EQ(dialogue.tracker.counters().of(TrackEvent::Began), 1U);
    expect_drop(says(99), kOld);
    EXPECT_EQ(dialogue.tracker.counters().of(kOld), 2U);
}

}  // namespace
}  // namespace sluice::track_stream_test
