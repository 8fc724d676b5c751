#include "tests/unit/l7/stream/toy_connection.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string_view>

// Lines in the middle of a stream that may begin a head: kept until more of them has come.
namespace sluice::kept_line_test {
namespace {

using test::at_second;

constexpr std::uint64_t kDigest = 0x1234'5678'9ABC'DEF0;
constexpr std::uint32_t kFirst = 0xFFFF'FFF0;

class KeptLine : public testing::Test {
protected:
    // A service's segment, so many bytes behind the place where the stream is first read.
    // Its receiver has all before it, or what is said.
    Offered take(std::uint32_t at, std::string_view bytes, int second = 0,
                 std::optional<std::uint32_t> acknowledged = std::nullopt) {
        const TcpSegment segment{.digest = kDigest,
                                 .seq = kFirst + at,
                                 .payload = bytes_of(bytes),
                                 .acknowledged = kFirst + acknowledged.value_or(at)};
        EXPECT_TRUE(table.begin_at(segment, {.first = kFirst, .sent = kFirst, .is_head = false},
                                   at_second(second)));
        table.take(segment, scratch, at_second(second), offer);
        return offer.kind;
    }
    [[nodiscard]] std::string_view offered() const {
        return {reinterpret_cast<const char*>(offer.bytes.data()), offer.bytes.size()};
    }
    // The last line of the first segment is kept.
    void keep(bool is_none_at_end = false) {
        ASSERT_EQ(take(0, "xx\nGE"), Offered::Resync);
        table.keep_line(offer, 3, is_none_at_end);
        EXPECT_EQ(offer.kind, Offered::Held);
        table.conclude();
    }

    ConnectionTable table{
        {.connections = 64, .half_heads = 16, .half_head_lines = 2000, .head_bytes = 4000}};
    StreamOffer offer;
    std::vector<std::byte> scratch = std::vector<std::byte>(10'000);
};

TEST_F(KeptLine, IsOfferedAgainWithWhatFollowsIt) {
    keep();
    EXPECT_EQ(take(5, "T "), Offered::Resync);
    EXPECT_EQ(offered(), "GET ");
    EXPECT_EQ(offer.seq, kFirst + 3);
    EXPECT_EQ(offer.may_begin, 4U);
    table.keep_line(offer, 0, false);
    EXPECT_EQ(take(7, "/"), Offered::Resync);
    EXPECT_EQ(offered(), "GET /");
    table.not_mine(offer);
    EXPECT_EQ(table.half_heads(), 0U);
    EXPECT_EQ(take(8, "abc"), Offered::Resync) << "what follows is looked through as before";
    EXPECT_EQ(offered(), "abc");
}

// Byte by byte a word costs a few looks at its length, and so do the blanks behind it; what may
// say what the line is costs one at once.
TEST_F(KeptLine, OfOneWordIsLookedAtAgainWhenItIsAQuarterLonger) {
    keep();
    std::uint32_t at = 5;
    const auto looks = [&](char byte, unsigned count) {
        unsigned looked = 0;
        for (unsigned i = 0; i < count; ++i) {
            if (take(at++, {&byte, 1}) == Offered::Resync) {
                ++looked;
                table.keep_line(offer, 0, false);
            }
            EXPECT_EQ(offer.kind, Offered::Held);
            table.conclude();
        }
        return looked;
    };
    EXPECT_LE(looks('A', 1600), 32U);
    EXPECT_EQ(looks(' ', 1), 1U);
    EXPECT_LE(looks(' ', 1600), 5U);
    EXPECT_EQ(looks('/', 1), 1U);
    EXPECT_EQ(looks('a', 20), 20U) << "a target: all of it may matter";
    EXPECT_EQ(take(at, "\n"), Offered::Resync);
    EXPECT_EQ(offered().size(), 2U + 1600 + 1 + 1600 + 1 + 20 + 1);
}

TEST_F(KeptLine, IsAUnitsBeginningWhereOneIsFound) {
    keep();
    ASSERT_EQ(take(5, "T\n"), Offered::Resync);
    table.finish(offer, 4, test::kPass, {});
    table.next(offer);
    EXPECT_EQ(offer.kind, Offered::Nothing);
    EXPECT_EQ(take(7, "abc"), Offered::Head) << "the place of the next one is known";
}

TEST_F(KeptLine, LetsNothingPassAheadOfWhatFollowsIt) {
    keep();
    EXPECT_EQ(take(9, "ahead", 0, 5), Offered::Refused);
    EXPECT_EQ(offer.why, RefusedWhy::MissedSome);
    EXPECT_EQ(take(9, "ahead"), Offered::Resync) << "its receiver has what was never read";
}

TEST_F(KeptLine, ComesAgainAsItCame) {
    keep();
    EXPECT_EQ(take(3, "GE"), Offered::Held);
    EXPECT_FALSE(offer.differs);
    (void)take(3, "PO");
    EXPECT_TRUE(offer.differs);
}

// Behind half a minute of silence too, and once it is given up nothing goes on with it.
TEST_F(KeptLine, IsGivenUpLate) {
    keep();
    EXPECT_EQ(take(5, "T", 60), Offered::Resync);
    EXPECT_EQ(offered(), "GET");
    table.keep_line(offer, 0, false);
    EXPECT_EQ(take(6, " /", 200), Offered::Refused);
    EXPECT_EQ(offer.why, RefusedWhy::HeadForgotten);
}

TEST_F(KeptLine, EndsWithItsStreamAsItsReaderSays) {
    for (const bool is_none : {true, false}) {
        ConnectionTable fresh{
            {.connections = 64, .half_heads = 16, .half_head_lines = 2000, .head_bytes = 4000}};
        const TcpSegment segment{
            .digest = kDigest, .seq = kFirst, .payload = bytes_of("words"), .acknowledged = kFirst};
        ASSERT_TRUE(fresh.begin_at(segment, {.first = kFirst, .sent = kFirst, .is_head = false},
                                   at_second(0)));
        fresh.take(segment, scratch, at_second(0), offer);
        fresh.keep_line(offer, 0, is_none);
        fresh.end_at(offer, kFirst + 5);
        EXPECT_EQ(offer.kind, is_none ? Offered::Held : Offered::Refused);
    }
}

TEST_F(KeptLine, ItsPlaceMayBeginAHeadAndABodyMayNot) {
    EXPECT_FALSE(table.knows(kDigest));
    EXPECT_TRUE(table.may_begin_at(kDigest, kFirst)) << "nothing is known";
    keep();
    EXPECT_TRUE(table.knows(kDigest));
    EXPECT_TRUE(table.may_begin_at(kDigest, kFirst + 5));
    EXPECT_FALSE(table.may_begin_at(kDigest, kFirst)) << "it was looked at";
    ASSERT_EQ(take(5, "T\nbody"), Offered::Resync);
    table.finish(offer, 4, test::kPass, {.kind = UnitBody::Kind::Framed});
    EXPECT_FALSE(table.may_begin_at(kDigest, kFirst + 11));
}

}  // namespace
}  // namespace sluice::kept_line_test
