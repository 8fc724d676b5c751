#include "control/preview/preview_log.hpp"

#include "lib/watch/trace/preview_tap.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace sluice::preview_log_test {
namespace {

PreviewedPackets shown(std::uint64_t from, std::uint64_t to, std::uint8_t bits = 0) {
    PreviewedPackets made{.known = true, .bits = bits};
    for (std::uint64_t key = from; key < to; ++key) {
        const std::uint64_t digest = preview_digest(key + 1);
        made.records.push_back(
            {static_cast<std::int64_t>(1'000 - key), {digest, 0}, {.packets = 1}});
        made.keys.push_back({digest, std::to_string(key)});
    }
    return made;
}

std::size_t sampled(std::uint64_t keys, unsigned bits) {
    std::size_t count = 0;
    for (std::uint64_t key = 0; key < keys; ++key) {
        count += preview_digest(key + 1) <= ~std::uint64_t{0} >> bits ? 1 : 0;
    }
    return count;
}

TEST(PreviewLog, KeepsWhatIsWithinItsTimeInOrder) {
    PreviewLog log{901, 1'000, true};
    log.add(shown(0, 200));
    ASSERT_EQ(log.sorted().size(), 99U);
    EXPECT_EQ(log.sorted().front().utc_ns, 901);
    EXPECT_EQ(log.sorted().back().utc_ns, 999);
    EXPECT_EQ(log.name_of(preview_digest(8)), "7");
    EXPECT_EQ(log.name_of(1), "");
}

// Keys that are no longer sampled are dropped, also those that came before.
TEST(PreviewLog, FollowsTheBitsOfTheBox) {
    PreviewLog log{0, 2'000, true};
    log.add(shown(0, 500));
    log.add(shown(500, 900, 3));
    EXPECT_EQ(log.bits(), 3);
    EXPECT_EQ(log.sorted().size(), sampled(900, 3));
    for (const PreviewRecord& record : log.sorted()) {
        EXPECT_LE(record.digests[0], ~std::uint64_t{0} >> 3);
    }
}

TEST(PreviewLog, SamplesFewerWhereItHasNoRoom) {
    PreviewLog log{0, 2'000, true, 100};
    log.add(shown(0, 900));
    EXPECT_GE(log.bits(), 3);
    EXPECT_LE(log.sorted().size(), 100U);
    EXPECT_EQ(log.sorted().size(), sampled(900, log.bits()));
    EXPECT_EQ(log.left_out(), 0U);
}

TEST(PreviewLog, RecordsOfImpossibleAmountsAreLeftOut) {
    PreviewLog log{0, 2'000, true};
    PreviewedPackets made = shown(0, 3);
    made.records[0].amounts.packets = std::uint64_t{1} << 63;
    made.records[1].amounts.units = PreviewLog::kMostOfRecord + 1;
    log.add(std::move(made));
    EXPECT_EQ(log.sorted().size(), 1U);
    EXPECT_EQ(log.left_out(), 2U);
}

TEST(PreviewLog, OneBucketIsLeftOutBeyondItsRoom) {
    PreviewLog log{0, 2'000, false, 100};
    log.add(shown(0, 130));
    EXPECT_EQ(log.bits(), 0);
    EXPECT_EQ(log.sorted().size(), 100U);
    EXPECT_EQ(log.left_out(), 30U);
    EXPECT_FALSE(log.halve());
}

}  // namespace
}  // namespace sluice::preview_log_test
