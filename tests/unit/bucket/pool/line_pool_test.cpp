#include "lib/bucket/pool/line_pool.hpp"

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <vector>

namespace sluice::line_pool_test {
namespace {

using Words = std::array<std::uint32_t, 16>;

TEST(LinePool, HandsOutEachLineOnceAndThenNone) {
    LinePool pool{100};
    std::set<PoolLine> taken;
    for (int i = 0; i < 100; ++i) {
        const PoolLine line = pool.take();
        ASSERT_NE(line, kNoLine);
        ASSERT_LE(line, 100U);
        taken.insert(line);
    }
    EXPECT_EQ(taken.size(), 100U);
    EXPECT_EQ(pool.free(), 0U);
    EXPECT_EQ(pool.take(), kNoLine);
    pool.give_back(7);
    EXPECT_EQ(pool.free(), 1U);
    EXPECT_EQ(pool.take(), 7U);
}

TEST(LinePool, EveryLineComesZeroed) {
    LinePool pool{3};
    for (int round = 0; round < 4; ++round) {
        std::vector<PoolLine> lines;
        for (PoolLine line = pool.take(); line != kNoLine; line = pool.take()) {
            EXPECT_EQ(pool.at<Words>(line), Words{});
            pool.at<Words>(line).fill(0xFFFF'FFFF);
            lines.push_back(line);
        }
        EXPECT_EQ(lines.size(), 3U);
        for (const PoolLine line : lines) {
            pool.give_back(line);
        }
    }
}

TEST(LinePool, LinesDoNotOverlapAndAreAligned) {
    LinePool pool{50};
    std::vector<PoolLine> lines;
    for (std::uint32_t i = 0; i < 50; ++i) {
        lines.push_back(pool.take());
        pool.at<Words>(lines.back()).fill(i);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&pool.at<Words>(lines.back())) % kLineBytes, 0U);
    }
    for (std::uint32_t i = 0; i < 50; ++i) {
        Words expected;
        expected.fill(i);
        EXPECT_EQ(pool.at<Words>(lines[i]), expected);
    }
}

TEST(LinePool, TakesAChainBackAtOnce) {
    LinePool pool{10};
    const PoolLine a = pool.take();
    const PoolLine b = pool.take();
    const PoolLine c = pool.take();
    pool.at<PoolLine>(a) = b;
    pool.at<PoolLine>(b) = c;
    pool.give_back_chain(a, c, 3);
    EXPECT_EQ(pool.free(), 10U);
    std::set<PoolLine> taken;
    for (int i = 0; i < 10; ++i) {
        taken.insert(pool.take());
    }
    EXPECT_EQ(taken.size(), 10U);
    EXPECT_EQ(taken.count(kNoLine), 0U);
}

// What is kept is there for those it is kept for, and counts as free.
TEST(LinePool, KeptLinesAreForWhomTheyAreKept) {
    LinePool pool{3};
    pool.keep(2);
    const PoolLine first = pool.take();
    EXPECT_NE(first, kNoLine);
    EXPECT_EQ(pool.take(), kNoLine);
    EXPECT_EQ(pool.free(), 2U);
    {
        const LinePool::KeptLines kept{pool};
        EXPECT_NE(pool.take(), kNoLine);
    }
    EXPECT_EQ(pool.take(), kNoLine);
    pool.give_back(first);
    EXPECT_EQ(pool.take(), kNoLine) << "two are kept still";
    pool.keep(1);
    EXPECT_NE(pool.take(), kNoLine);
    EXPECT_EQ(pool.take(), kNoLine);
}

TEST(LinePool, MayBeEmpty) {
    LinePool pool{0};
    EXPECT_EQ(pool.take(), kNoLine);
    EXPECT_EQ(pool.size(), 0U);
}

}  // namespace
}  // namespace sluice::line_pool_test
