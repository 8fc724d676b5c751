#include "tests/unit/l7/stream/toy_connection.hpp"

#include <gtest/gtest.h>

namespace sluice::connection_table_test {
namespace {

using test::at_second;
using test::kDrop;
using test::kPass;
using test::toy_unit;
using test::ToyReader;

constexpr std::uint32_t kIsn = 0xFFFF'FFF0;  // wraps within the first unit
constexpr std::uint64_t kDigest = 0x1234'5678'9ABC'DEF0;

class ConnectionTableTest : public testing::Test {
protected:
    Offered add(std::uint64_t at, const std::string& bytes, int second = 0) {
        offer = reader.add(at, bytes, at_second(second));
        return offer.kind;
    }
    // A segment without payload.
    void flags(std::uint32_t seq, bool syn, bool fin, int second = 0) {
        table.take({.digest = kDigest, .seq = seq, .syn = syn, .fin = fin}, {}, at_second(second),
                   offer);
        EXPECT_EQ(offer.kind, Offered::Nothing);
    }
    void begin(std::uint64_t digest = kDigest, int second = 0) {
        table.take({.digest = digest, .seq = kIsn - 1, .syn = true, .begins = true}, {},
                   at_second(second), offer);
        EXPECT_EQ(offer.kind, Offered::Nothing);
    }
    // The offer may be of the bytes themselves, which stay until the next ones come.
    void take(std::uint64_t at, const std::string& bytes) {
        taken = bytes;
        table.take({.digest = kDigest,
                    .seq = kIsn + static_cast<std::uint32_t>(at),
                    .payload = bytes_of(taken)},
                   scratch, at_second(0), offer);
    }
    [[nodiscard]] std::uint64_t count(ConnectionEvent event) const {
        return table.counters().of(event);
    }
    [[nodiscard]] std::size_t judged() const { return reader.units().size(); }

    ConnectionTable table{
        {.connections = 64, .half_heads = 16, .half_head_lines = 2000, .head_bytes = 4000}};
    ToyReader reader{table, kDigest, kIsn};
    std::string taken;
    StreamOffer offer;
    std::vector<std::byte> scratch = std::vector<std::byte>(10'000);
};

TEST_F(ConnectionTableTest, AHeadInOneSegmentIsSeenWhereItLies) {
    take(0, toy_unit('a', 100));
    ASSERT_EQ(offer.kind, Offered::Head);
    EXPECT_EQ(static_cast<const void*>(offer.bytes.data()), taken.data()) << "no copy";
    EXPECT_EQ(table.size(), 0U) << "and nothing is remembered until it is judged";
    table.not_mine(offer);
    EXPECT_EQ(table.size(), 0U);
}

TEST_F(ConnectionTableTest, AHeadSplitAtEachByteIsJudgedAtTheLast) {
    const std::string unit = toy_unit('a', 90);
    for (std::size_t i = 0; i + 1 < unit.size(); ++i) {
        EXPECT_EQ(add(i, unit.substr(i, 1)), Offered::Held);
        EXPECT_EQ(judged(), 0U);
    }
    EXPECT_EQ(add(unit.size() - 1, unit.substr(unit.size() - 1)), Offered::Nothing);
    ASSERT_EQ(judged(), 1U);
    EXPECT_EQ(reader.units()[0].head, unit);
    EXPECT_EQ(count(ConnectionEvent::Assembled), 1U);
    EXPECT_EQ(table.half_heads(), 0U);
    EXPECT_EQ(table.counters().held_lines.read(), 0U);
}

TEST_F(ConnectionTableTest, ARetransmissionMeetsTheVerdictAndIsJudgedNoMore) {
    for (const StickyVerdict verdict : {kPass, kDrop}) {
        const std::uint64_t at = reader.units().empty() ? 0 : 100;
        reader.verdict(verdict);
        const std::string unit = toy_unit('a', 60, 40);
        EXPECT_EQ(add(at, unit), Offered::Nothing);
        const std::size_t before = judged();
        EXPECT_EQ(add(at, unit), Offered::Judged);
        EXPECT_TRUE(offer.repeats);
        EXPECT_EQ(offer.judged, verdict);
        EXPECT_EQ(add(at + 70, "bbbb"), Offered::Judged) << "of the body too";
        EXPECT_EQ(offer.judged, verdict);
        EXPECT_EQ(judged(), before);
    }
    EXPECT_EQ(add(50, toy_unit('a', 60, 40)), Offered::Judged);
    EXPECT_EQ(offer.judged, kDrop) << "the strictest of both";
}

TEST_F(ConnectionTableTest, ASegmentThatStraddlesIsSplit) {
    const std::string first = toy_unit('a', 50);
    const std::string second = toy_unit('b', 30);
    add(0, first);
    EXPECT_EQ(add(20, first.substr(20) + second), Offered::Nothing);
    EXPECT_TRUE(offer.repeats);
    EXPECT_EQ(offer.judged, kPass);
    ASSERT_EQ(judged(), 2U);
    EXPECT_EQ(reader.units()[1].at, 50U);
}

// The packet is dropped for its judged part: what follows it will come again.
TEST_F(ConnectionTableTest, NothingBehindARefusedUnitInItsSegmentIsJudged) {
    const std::string first = toy_unit('a', 50);
    const std::string second = toy_unit('b', 30);
    reader.verdict(kDrop);
    add(0, first);
    reader.verdict(kPass);
    EXPECT_EQ(add(0, first + second), Offered::Judged);
    EXPECT_EQ(offer.judged, kDrop);
    EXPECT_EQ(judged(), 1U);
    EXPECT_EQ(add(50, second), Offered::Nothing);
    EXPECT_EQ(judged(), 2U);
}

TEST_F(ConnectionTableTest, PipelinedUnitsAreJudgedOneByOne) {
    EXPECT_EQ(add(0, toy_unit('a', 10, 5) + toy_unit('b', 20) + toy_unit('c', 30).substr(0, 7)),
              Offered::Held);
    ASSERT_EQ(judged(), 2U);
    EXPECT_EQ(reader.units()[1].at, 15U);
    EXPECT_EQ(add(42, toy_unit('c', 30).substr(7)), Offered::Nothing);
    EXPECT_EQ(judged(), 3U);
}

TEST_F(ConnectionTableTest, WhatCameFirstStandsAndADifferenceIsReported) {
    const std::string unit = toy_unit('a', 40);
    add(0, unit.substr(0, 10));
    EXPECT_EQ(add(20, std::string(10, 'x')), Offered::Held);
    EXPECT_EQ(add(15, std::string(10, 'y')), Offered::Held);
    EXPECT_TRUE(offer.differs);
    EXPECT_EQ(count(ConnectionEvent::Differing), 1U);
    add(0, unit);
    ASSERT_EQ(judged(), 1U);
    EXPECT_EQ(reader.units()[0].head.substr(10, 25), "aaaaayyyyyxxxxxxxxxxaaaaa");
}

TEST_F(ConnectionTableTest, VerdictsAreRememberedStrictestWhenThereAreTooMany) {
    std::uint64_t at = 0;
    for (const StickyVerdict verdict : {kPass, kDrop, kPass, kDrop, kPass}) {
        reader.verdict(verdict);
        add(at, toy_unit('a', 10));
        at += 10;
    }
    const std::vector<StickyVerdict> expected{kDrop, kDrop, kDrop, kDrop, kPass};
    for (std::size_t i = 0; i < expected.size(); ++i) {
        EXPECT_EQ(add(i * 10, toy_unit('a', 10)), Offered::Judged);
        EXPECT_EQ(offer.judged, expected[i]) << i;
    }
}

TEST_F(ConnectionTableTest, AnUndecidedVerdictIsSettled) {
    reader.verdict(StickyVerdict::Undecided);
    add(0, toy_unit('a', 10) + toy_unit('b', 10));
    EXPECT_EQ(table.verdict_of(kDigest, kIsn, kIsn + 5), StickyVerdict::Undecided);
    table.settle(kDigest, kIsn, kIsn + 10, kDrop);
    EXPECT_EQ(table.verdict_of(kDigest, kIsn, kIsn + 5), kDrop);
    EXPECT_EQ(table.verdict_of(kDigest, kIsn + 10, kIsn + 20), StickyVerdict::Undecided);
    table.settle(kDigest, kIsn + 10, kIsn + 20, kPass);
    EXPECT_EQ(table.verdict_of(kDigest, kIsn + 10, kIsn + 20), kPass);
    EXPECT_EQ(table.verdict_of(kDigest, kIsn - 9, kIsn - 2), StickyVerdict::Unjudged);
}

TEST_F(ConnectionTableTest, ABodyOfGigabytesIsSkipped) {
    constexpr std::uint64_t kBody = 6'000'000'000;
    take(0, toy_unit('a', 10));
    table.finish(offer, 10, kPass, {.bytes = kBody});
    table.next(offer);
    EXPECT_EQ(offer.kind, Offered::Nothing);
    const std::string piece(100'000, 'b');
    std::uint64_t at = 10;
    for (; at + piece.size() * 1000 <= kBody; at += piece.size() * 1000) {
        take(at, piece);
        ASSERT_EQ(offer.kind, Offered::Judged) << at;
        ASSERT_EQ(offer.judged, kPass);
    }
    take(kBody + 10 - 50, std::string(50, 'b') + toy_unit('c', 20));
    ASSERT_EQ(offer.kind, Offered::Head);
    EXPECT_EQ(offer.seq, kIsn + static_cast<std::uint32_t>(kBody + 10));
    EXPECT_EQ(offer.bytes.size(), 20U);
}

TEST_F(ConnectionTableTest, ABodyThatTheCallerFramesComesInOrder) {
    take(0, toy_unit('a', 10));
    table.finish(offer, 10, kPass, {.kind = UnitBody::Kind::Framed, .framing = {std::byte{7}}});
    take(15, "world");
    EXPECT_EQ(offer.kind, Offered::Held);
    take(10, "hello");
    ASSERT_EQ(offer.kind, Offered::Framed);
    EXPECT_EQ(offer.framing[0], std::byte{7});
    EXPECT_EQ(offer.bytes.size(), 10U);
    table.framed(offer, 10, {.kind = UnitBody::Kind::Framed, .framing = {std::byte{8}}});
    table.next(offer);
    EXPECT_EQ(offer.kind, Offered::Nothing);
    take(20, "end" + toy_unit('c', 20));
    ASSERT_EQ(offer.kind, Offered::Framed);
    EXPECT_EQ(offer.framing[0], std::byte{8});
    table.framed(offer, 3, {});
    table.next(offer);
    ASSERT_EQ(offer.kind, Offered::Head);
    EXPECT_EQ(offer.bytes.size(), 20U);
    take(12, "llo");
    EXPECT_EQ(offer.kind, Offered::Judged);
}

// One way nobody acknowledges: what is kept of a body in chunks, and that some of it is not, holds
// for as long as it may come again, and is no later byte's.
TEST_F(ConnectionTableTest, LinesOfChunksThatAreLongPastMeetNobody) {
    const KeyHasher hash{HashSecret{1, 2}};
    std::uint32_t at = 10;
    const auto take_hashed = [&](const std::string& bytes) {
        taken = bytes;
        table.take({.digest = kDigest, .seq = kIsn + at, .payload = bytes_of(taken), .hash = &hash},
                   scratch, at_second(0), offer);
    };
    take(0, toy_unit('a', 10));
    table.finish(offer, 10, kPass, {.kind = UnitBody::Kind::Framed});
    const std::array<PayloadRange, 1> line{{{0, 3}}};
    for (std::size_t i = 0; i < FramingBytes::kKept + 10; ++i, at += 3) {
        take_hashed("8\r\n");
        ASSERT_EQ(offer.kind, Offered::Framed);
        table.framed(
            offer, 3,
            i == FramingBytes::kKept + 9 ? UnitBody{} : UnitBody{.kind = UnitBody::Kind::Framed},
            line);
        table.conclude();
    }
    take_hashed(toy_unit('b', 10));
    constexpr std::uint64_t kLong = (std::uint64_t{1} << 32) - 300;
    table.finish(offer, 10, kPass, {.bytes = kLong});
    table.conclude();
    for (constexpr std::uint32_t kStep = 1U << 27; at + kStep > at;) {
        at += kStep;
        take_hashed("x");
        EXPECT_FALSE(offer.differs) << at;
        table.conclude();
        take_hashed("x");
        EXPECT_FALSE(offer.differs) << at;
        table.conclude();
    }
}

// A chunk's line may be longer than a number of two bytes says: all of it stands as it came first.
TEST_F(ConnectionTableTest, FramingBytesBeyond65535AreComparedToTheLast) {
    const KeyHasher hash{HashSecret{1, 2}};
    const auto take_hashed = [&](std::uint32_t at, const std::string& bytes) {
        taken = bytes;
        table.take({.digest = kDigest, .seq = kIsn + at, .payload = bytes_of(taken), .hash = &hash},
                   scratch, at_second(0), offer);
    };
    constexpr std::uint32_t kSize = 70'000;
    const std::string line = "8;" + std::string(kSize - 4, 'e') + "\r\n";
    take_hashed(0, toy_unit('a', 10));
    table.finish(offer, 10, kPass, {.kind = UnitBody::Kind::Framed});
    table.conclude();
    take_hashed(10, line);
    ASSERT_EQ(offer.kind, Offered::Framed);
    const std::array<PayloadRange, 1> places{{{0, kSize}}};
    table.framed(offer, kSize, {.kind = UnitBody::Kind::Framed}, places);
    table.conclude();
    take_hashed(10, line);
    EXPECT_FALSE(offer.differs);
    table.conclude();
    for (const std::size_t other :
         {std::size_t{0}, std::size_t{4'463}, std::size_t{4'464}, std::size_t{65'534},
          std::size_t{65'535}, std::size_t{65'536}, std::size_t{kSize - 1}}) {
        std::string changed = line;
        changed[other] = '!';
        take_hashed(10, changed);
        EXPECT_TRUE(offer.differs) << other;
        table.conclude();
    }
}

TEST_F(ConnectionTableTest, UntilCloseAllMeetsTheVerdict) {
    take(0, toy_unit('a', 10));
    table.finish(offer, 10, kDrop, {.kind = UnitBody::Kind::UntilClose});
    take(10, "anything");
    EXPECT_EQ(offer.kind, Offered::Judged);
    EXPECT_EQ(offer.judged, kDrop);
    take(100'000, "more of it");
    EXPECT_EQ(offer.judged, kDrop);
}

// Somewhere behind bytes that no reader knows.
TEST_F(ConnectionTableTest, BehindOtherBytesAHeadIsLookedFor) {
    add(0, toy_unit('a', 10));
    take(10, "junk");
    table.not_mine(offer);
    take(100'000, "??" + toy_unit('b', 10));
    ASSERT_EQ(offer.kind, Offered::Resync);
    offer.skip(2);
    table.finish(offer, 10, kPass, {});
    EXPECT_EQ(count(ConnectionEvent::Resynchronised), 1U);
    // What lay in the gap was never judged: it does not pass for a retransmission.
    take(10, toy_unit('c', 10));
    ASSERT_EQ(offer.kind, Offered::Resync);
    table.finish(offer, 10, kDrop, {});
    EXPECT_EQ(table.verdict_of(kDigest, kIsn + 10, kIsn + 20), kDrop);
    EXPECT_EQ(table.verdict_of(kDigest, kIsn + 100'002, kIsn + 100'012), kPass);
    // And half a head in it is held, since its reader comes there first.
    take(50, toy_unit('d', 20).substr(0, 5));
    ASSERT_EQ(offer.kind, Offered::Resync);
    table.more(offer, {20});
    take(55, toy_unit('d', 20).substr(5));
    ASSERT_EQ(offer.kind, Offered::Head);
    EXPECT_EQ(offer.bytes.size(), 20U);
    table.finish(offer, 20, StickyVerdict{2}, {});
    EXPECT_EQ(table.verdict_of(kDigest, kIsn + 10, kIsn + 20), kDrop);
    EXPECT_EQ(table.verdict_of(kDigest, kIsn + 50, kIsn + 70), StickyVerdict{2});
    EXPECT_EQ(table.verdict_of(kDigest, kIsn + 30, kIsn + 40), StickyVerdict::Unjudged);
    take(100'002, toy_unit('b', 10));
    EXPECT_EQ(offer.kind, Offered::Refused) << "what lies so far ahead waits for its turn";
}

TEST_F(ConnectionTableTest, BehindAGapThatIsTooLongNothingIsRead) {
    add(0, toy_unit('a', 10));
    take(100'000, "??" + toy_unit('b', 10));
    EXPECT_EQ(offer.kind, Offered::Refused);
    EXPECT_EQ(offer.why, RefusedWhy::OutOfReach);
    EXPECT_EQ(add(10, toy_unit('c', 10)), Offered::Nothing);
    EXPECT_EQ(judged(), 2U);
}

TEST_F(ConnectionTableTest, AUnitFoundBehindOtherBytesIsFoundOnce) {
    add(0, toy_unit('a', 10));
    take(10, "junk");
    table.not_mine(offer);
    const std::string segment = "??" + toy_unit('b', 10) + "?!";
    take(100'000, segment);
    ASSERT_EQ(offer.kind, Offered::Resync);
    EXPECT_EQ(offer.may_begin, 14U);
    offer.skip(2);
    table.finish(offer, 10, kPass, {});
    table.next(offer);
    table.not_mine(offer);
    // It comes again: a unit may begin in the two bytes before the one that is known, and nowhere
    // else.
    take(100'000, segment);
    ASSERT_EQ(offer.kind, Offered::Resync);
    EXPECT_EQ(offer.may_begin, 2U);
    table.not_mine(offer);
    table.next(offer);
    ASSERT_EQ(offer.kind, Offered::Resync) << "of what lies behind it nothing is known either";
    EXPECT_TRUE(offer.repeats);
    EXPECT_EQ(offer.judged, kPass);
    EXPECT_EQ(offer.bytes.size(), 2U);
}

TEST_F(ConnectionTableTest, AUnitThatReachesBeyondWhatIsKnownIsFoundOnce) {
    add(0, toy_unit('a', 10));
    take(10, "junk");
    table.not_mine(offer);
    for (const Offered again : {Offered::Resync, Offered::Judged}) {
        take(12, toy_unit('b', 10));
        ASSERT_EQ(offer.kind, again);
        if (again == Offered::Resync) {
            table.finish(offer, 10, kPass, {});
        }
        table.next(offer);
        EXPECT_FALSE(offer.parses());
    }
    EXPECT_EQ(offer.judged, kPass);
    EXPECT_EQ(table.verdict_of(kDigest, kIsn + 12, kIsn + 22), kPass);
}

TEST_F(ConnectionTableTest, AHalfHeadIsNotPushedAsideByASegmentFarAhead) {
    add(0, toy_unit('a', 40).substr(0, 20));
    EXPECT_EQ(add(100'000, toy_unit('b', 10)), Offered::Refused);
    EXPECT_EQ(offer.why, RefusedWhy::OutOfReach);
    EXPECT_EQ(add(20, toy_unit('a', 40).substr(20)), Offered::Nothing);
    EXPECT_EQ(judged(), 1U);
}

TEST_F(ConnectionTableTest, AHeadBeyondTheLimitIsRefusedAndItsRestToo) {
    take(0, std::string(3000, 'x'));
    table.more(offer, {});
    take(3000, std::string(1000, 'x'));
    ASSERT_EQ(offer.kind, Offered::Head) << "the limit is reached: one last look";
    table.more(offer, {});
    EXPECT_EQ(offer.kind, Offered::Refused);
    EXPECT_EQ(offer.why, RefusedWhy::HeadTooLong);
    EXPECT_EQ(table.half_heads(), 0U);
    take(4000, std::string(10, 'x'));
    EXPECT_EQ(offer.why, RefusedWhy::HeadForgotten);
}

TEST_F(ConnectionTableTest, ManySmallSegmentsAreLookedAtWhenABlankLineEnds) {
    const std::string head = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
    int looks = 0;
    for (std::size_t i = 0; i < head.size(); ++i) {
        take(i, head.substr(i, 1));
        if (offer.kind == Offered::Head) {
            ++looks;
            if (offer.bytes.size() == head.size()) {
                break;
            }
            table.more(offer, {.bytes = 4000, .blank_line = true});
        }
    }
    EXPECT_EQ(offer.bytes.size(), head.size());
    EXPECT_EQ(looks, 2) << "the first byte and the last";
}

TEST_F(ConnectionTableTest, TheyAreLookedAtWhenACarriageReturnStandsAlone) {
    const std::string half = "GET / HTTP/1.1\r\nHost: a\r\r\n";
    std::vector<std::size_t> looks;
    for (std::size_t i = 0; i < half.size(); ++i) {
        take(i, half.substr(i, 1));
        if (offer.kind == Offered::Head) {
            looks.push_back(offer.bytes.size());
            table.more(offer, {.bytes = 4000, .blank_line = true, .bare_return = true});
        }
    }
    EXPECT_EQ(looks, (std::vector<std::size_t>{1, half.size() - 1})) << "once, behind the first CR";
}

TEST_F(ConnectionTableTest, ASynErasesNeitherARefusalNorAHalfHead) {
    reader.verdict(kDrop);
    add(0, toy_unit('a', 10));
    flags(kIsn + 5'000'000, true, false);
    EXPECT_EQ(add(0, toy_unit('a', 10)), Offered::Judged);
    EXPECT_EQ(offer.judged, kDrop);
    EXPECT_EQ(count(ConnectionEvent::SynIgnored), 1U);
    reader.verdict(kPass);
    add(10, toy_unit('b', 20).substr(0, 10));
    flags(kIsn + 5'000'000, true, false);
    flags(kIsn + 20, false, true);
    EXPECT_EQ(add(20, toy_unit('b', 20).substr(10)), Offered::Nothing);
    EXPECT_EQ(judged(), 2U);
}

TEST_F(ConnectionTableTest, ASynBeginsAnewWhereNothingIsAtStake) {
    add(0, toy_unit('a', 10));
    flags(kIsn - 1, true, false);
    EXPECT_EQ(add(0, toy_unit('a', 10)), Offered::Judged) << "the SYN was a repeated one";
    flags(kIsn + 5'000'000, true, false);
    EXPECT_EQ(table.size(), 0U);
    EXPECT_EQ(count(ConnectionEvent::SynReuse), 1U);
}

TEST_F(ConnectionTableTest, AHalfHeadTimesOutAndItsRestIsNotPassed) {
    const std::string unit = toy_unit('a', 40);
    add(0, unit.substr(0, 20), 0);
    EXPECT_EQ(add(20, unit.substr(20), 11), Offered::Refused);
    EXPECT_EQ(offer.why, RefusedWhy::HeadForgotten);
    EXPECT_EQ(count(ConnectionEvent::HalfHeadTimeout), 1U);
    EXPECT_EQ(add(0, unit, 12), Offered::Refused) << "a server may have other bytes there";
    EXPECT_EQ(judged(), 0U);
    EXPECT_EQ(add(0, unit, 130), Offered::Nothing) << "forgotten after silence";
    EXPECT_EQ(judged(), 1U);
}

// A client sends what was lost again in its own time, which doubles each time.
TEST_F(ConnectionTableTest, AGapIsWaitedForForAsLongAsItsClientMayFillIt) {
    const std::string unit = toy_unit('a', 40);
    begin();
    EXPECT_EQ(add(20, unit.substr(20), 0), Offered::Held);
    (void)table.expire(at_second(100), 4);
    EXPECT_EQ(add(0, unit.substr(0, 20), 110), Offered::Nothing);
    EXPECT_EQ(add(60, unit.substr(20), 112), Offered::Held);
    EXPECT_EQ(add(40, unit.substr(0, 20), 240), Offered::Refused);
    EXPECT_EQ(judged(), 1U);
    EXPECT_EQ(count(ConnectionEvent::HalfHeadTimeout), 1U);
}

TEST_F(ConnectionTableTest, BehindASynTheSecondHalfOfAHeadWaitsForTheFirst) {
    const std::string unit = toy_unit('a', 40);
    begin();
    begin();
    EXPECT_EQ(add(20, unit.substr(20)), Offered::Held);
    EXPECT_EQ(add(0, unit.substr(0, 20)), Offered::Nothing);
    ASSERT_EQ(judged(), 1U);
    EXPECT_EQ(reader.units()[0].head, unit);
    EXPECT_EQ(count(ConnectionEvent::Begun), 1U);
}

TEST_F(ConnectionTableTest, WhatDoesNotBeginWhereItsSynSaidIsSeenAsItLies) {
    for (const std::uint64_t at : {std::uint64_t{5000}, std::uint64_t{1} << 31}) {
        begin();
        EXPECT_EQ(add(at, toy_unit('a', 40)), Offered::Nothing);
    }
    EXPECT_EQ(judged(), 2U);
    EXPECT_EQ(count(ConnectionEvent::BegunElsewhere), 2U);
}

TEST_F(ConnectionTableTest, AConnectionOfSomethingElseIsNotKept) {
    begin();
    take(0, "x");
    table.not_mine(offer);
    table.next(offer);
    EXPECT_EQ(offer.kind, Offered::Nothing);
    EXPECT_EQ(table.size(), 0U);
}

TEST_F(ConnectionTableTest, SynsAloneTakeNoMoreThanTheirBudget) {
    ConnectionTable small{{.connections = 64, .begun = 8}};
    const auto take_unit = [&](std::uint64_t digest) {
        ToyReader one{small, digest, kIsn};
        one.add(0, toy_unit('a', 40), at_second(0));
        return one.units().size();
    };
    for (std::uint64_t digest = 1; digest <= 50; ++digest) {
        EXPECT_EQ(take_unit(digest * 0x9E37'79B9'7F4A'7C15), 1U);
    }
    for (std::uint64_t digest = 100; digest < 10'100; ++digest) {
        small.take({.digest = digest * 0x9E37'79B9'7F4A'7C15,
                    .seq = kIsn - 1,
                    .syn = true,
                    .begins = true},
                   {}, at_second(1), offer);
    }
    EXPECT_EQ(small.size(), 58U);
    EXPECT_EQ(small.counters().of(ConnectionEvent::EvictedIdle), 0U);
    for (std::uint64_t digest = 1; digest <= 50; ++digest) {
        EXPECT_EQ(take_unit(digest * 0x9E37'79B9'7F4A'7C15), 0U) << "its verdict is remembered";
    }
    small.expire(at_second(100), 1000);
    EXPECT_EQ(small.size(), 0U);
}

TEST_F(ConnectionTableTest, WhereSegmentsPassedUnseenAHeadIsLookedFor) {
    add(0, toy_unit('a', 40));
    table.note_unseen(at_second(1));
    EXPECT_EQ(add(100, toy_unit('b', 40), 2), Offered::Nothing);
    EXPECT_EQ(judged(), 2U);
    EXPECT_EQ(count(ConnectionEvent::MissedSome), 1U);
    EXPECT_EQ(add(160, toy_unit('c', 40).substr(0, 20), 2), Offered::Held)
        << "what came since is known";
    EXPECT_EQ(add(0, toy_unit('a', 40), 2), Offered::Judged);
}

// Bytes ahead of a gap are held, unless the receiver has some that were not read.
TEST_F(ConnectionTableTest, WhereItsReceiverIsKnownThatTellsWhatPassedUnseen) {
    for (const bool has_more : {false, true}) {
        const std::uint64_t digest = has_more ? 7 : 8;
        ToyReader other{table, digest, kIsn};
        (void)other.add(0, toy_unit('a', 40), at_second(0));
        table.note_unseen(at_second(1));
        const std::string ahead = toy_unit('b', 40).substr(0, 20);
        table.take({.digest = digest,
                    .seq = kIsn + 60,
                    .payload = bytes_of(ahead),
                    .acknowledged = kIsn + (has_more ? 50U : 40U)},
                   scratch, at_second(2), offer);
        EXPECT_EQ(offer.kind, has_more ? Offered::Refused : Offered::Held);
        EXPECT_EQ(count(ConnectionEvent::MissedSome), has_more ? 1U : 0U);
    }
}

// A segment ahead of what the receiver has acknowledged waits for the bytes before it: its receiver
// would read whatever came in their place together with it.
TEST_F(ConnectionTableTest, NothingFillsWhatPassedUnseenBeforeASegment) {
    (void)add(0, toy_unit('a', 40));
    table.note_unseen(at_second(1));
    const std::string unit = toy_unit('b', 40);
    const auto send = [&](std::uint32_t at, std::string_view bytes, std::uint32_t acknowledged) {
        table.take({.digest = kDigest,
                    .seq = kIsn + at,
                    .payload = bytes_of(bytes),
                    .acknowledged = kIsn + acknowledged},
                   scratch, at_second(2), offer);
        return offer.kind;
    };
    EXPECT_EQ(send(100, unit, 90), Offered::Refused);
    EXPECT_EQ(offer.why, RefusedWhy::MissedSome);
    EXPECT_EQ(send(95, "xxxxx", 90), Offered::Refused) << "not in the place right behind either";
    EXPECT_EQ(send(100, unit, 99), Offered::Refused) << "one byte before it may be missing";
    EXPECT_EQ(send(90, "xxxxxxxxxx", 90), Offered::Resync) << "it is looked at, like what follows";
    EXPECT_EQ(send(100, unit, 100), Offered::Resync) << "its receiver has all before it";
}

TEST_F(ConnectionTableTest, GapsAreBounded) {
    add(0, toy_unit('a', 200).substr(0, 10));
    for (std::uint64_t i = 0; i < 3; ++i) {
        EXPECT_EQ(add(20 + 20 * i, "xxxxx"), Offered::Held);
    }
    EXPECT_EQ(add(120, "xxxxx"), Offered::Refused);
    EXPECT_EQ(offer.why, RefusedWhy::TooManyPieces);
}

}  // namespace
}  // namespace sluice::connection_table_test
