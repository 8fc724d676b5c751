#include "lib/l7/stream/judged_ranges.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace sluice::judged_ranges_test {
namespace {

// Against a verdict for each byte: what is remembered is never less strict, and exact while three
// ranges are enough.
TEST(JudgedRanges, AreNeverLessStrictThanWhatWasJudged) {
    for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        std::mt19937_64 random{seed};
        constexpr std::array<std::uint8_t, 5> kVerdicts{1, 2, 0x7F, 0x80, 0x90};
        const auto draw = [&] { return StickyVerdict{kVerdicts[random() % kVerdicts.size()]}; };
        const auto begin = static_cast<std::uint32_t>(0xFFFF'FF80 + random() % 200);
        JudgedRanges ranges;
        std::map<std::uint32_t, StickyVerdict> truth;  // by distance from `begin`
        std::uint32_t size = 0;
        for (int step = 0; step < 12; ++step) {
            if (size == 0 || random() % 3 != 0) {
                const auto more = static_cast<std::uint32_t>(1 + random() % 20);
                const StickyVerdict verdict = draw();
                ranges.append(verdict, begin + size, begin + size + more);
                for (std::uint32_t i = 0; i < more; ++i) {
                    truth[size + i] = verdict;
                }
                size += more;
            } else {
                const auto from = static_cast<std::uint32_t>(random() % size);
                const auto to = static_cast<std::uint32_t>(from + 1 + random() % (size - from));
                const StickyVerdict verdict = draw();
                ranges.paint(verdict, begin + from, begin + to, begin + size);
                for (std::uint32_t i = from; i < to; ++i) {
                    truth[i] = verdict;
                }
            }
            // What was painted may have been made stricter with its neighbours, later again less.
            std::uint32_t last = size - 1;
            EXPECT_GE(ranges.strictest(begin + last, begin + size, begin + size), truth[last]);
            EXPECT_EQ(ranges.begin(), begin);
            for (std::uint32_t i = 0; i < size; ++i) {
                EXPECT_GE(ranges.strictest(begin + i, begin + i + 1, begin + size), truth[i]) << i;
            }
        }
        EXPECT_EQ(ranges.strictest(begin - 1, begin, begin + size), StickyVerdict::Unjudged);
        // Runs of bytes that are all judged, or all not, begin before the first range.
        const auto unjudged = [&](std::uint32_t at) {
            return ranges.strictest(at, at + 1, begin + size) == StickyVerdict::Unjudged;
        };
        for (std::uint32_t at = begin - 1; at != begin + size;) {
            const std::uint32_t until = ranges.alike_until(at, begin + size, begin + size);
            ASSERT_GT(sequence_distance(at, until), 0);
            for (std::uint32_t i = at; i != until; ++i) {
                ASSERT_EQ(unjudged(i), unjudged(at));
            }
            ASSERT_TRUE(until == begin + size || unjudged(until) != unjudged(at));
            at = until;
        }
    }
}

TEST(JudgedRanges, ForgetWhatNoWindowReaches) {
    JudgedRanges ranges;
    ranges.append(StickyVerdict{1}, 0, 100);
    for (std::uint32_t at = 100, i = 0; i < 40; ++i, at += 1U << 28) {
        ranges.append(StickyVerdict{i % 2 != 0 ? std::uint8_t{1} : std::uint8_t{2}}, at,
                      at + (1U << 28));
        EXPECT_LE(at + (1U << 28) - ranges.begin(), JudgedRanges::kMostBytes);
    }
}

TEST(JudgedRanges, EndEarlier) {
    JudgedRanges ranges;
    ranges.append(StickyVerdict{1}, 0, 10);
    ranges.append(StickyVerdict{2}, 10, 20);
    ranges.end_at(15);
    EXPECT_EQ(ranges.strictest(10, 15, 15), StickyVerdict{2});
    ranges.end_at(10);
    EXPECT_EQ(ranges.strictest(0, 10, 10), StickyVerdict{1});
    ranges.end_at(0);
    EXPECT_TRUE(ranges.empty());
}

}  // namespace
}  // namespace sluice::judged_ranges_test
