#include "lib/bucket/meter/window_limit.hpp"

#include <gtest/gtest.h>

#include <optional>

namespace sluice::window_limit_test {
namespace {

using namespace std::chrono_literals;

struct WindowRow {
    std::uint64_t count;
    Nanoseconds window;
    std::string_view says;  // empty: it fits
};

TEST(WindowNumbers, NameTheNearestThatFit) {
    const WindowRow rows[] = {
        {1, 1ms, ""},
        {kMostCount, 366 * 24h, ""},
        {0, 1s, "at least 1"},
        {kMostCount + 1, 1s, "largest that fits is 4611686018427387904"},
        {1, 1ms - 1ns, "shortest is 1ms"},
        {1, 0ns, "shortest is 1ms"},
        {1, -1s, "shortest is 1ms"},
        {1, 366 * 24h + 1ns, "longest is 366d"},
    };
    for (const WindowRow& row : rows) {
        const Result<WindowNumbers> made = make_window_numbers(Units{row.count}, row.window);
        ASSERT_EQ(made.has_value(), row.says.empty()) << row.count;
        if (made) {
            EXPECT_EQ(*made, (WindowNumbers{row.count, row.window.count()}));
        } else {
            EXPECT_EQ(made.error().code, Errc::OutOfRange);
            EXPECT_NE(made.error().what.find(row.says), std::string::npos) << made.error().what;
        }
    }
}

TEST(FixedWindowNumbers, AnOffsetIsLessThanADayAndForTheClock) {
    const WindowNumbers numbers = *make_window_numbers(Units{1}, 1s);
    EXPECT_TRUE(make_fixed_window(numbers, WindowPhase::Clock, 24h - 1ns));
    EXPECT_TRUE(make_fixed_window(numbers, WindowPhase::Clock, -24h + 1ns));
    EXPECT_TRUE(make_fixed_window(numbers, WindowPhase::First, 0s));
    EXPECT_FALSE(make_fixed_window(numbers, WindowPhase::Clock, 24h));
    EXPECT_FALSE(make_fixed_window(numbers, WindowPhase::Clock, -24h));
    EXPECT_FALSE(make_fixed_window(numbers, WindowPhase::PerKey, 1s));
}

TEST(SlidingCountersNumbers, NameTheMostBucketsThatFit) {
    struct Row {
        Nanoseconds window;
        std::uint32_t buckets;
        std::string_view says;
    };
    const Row rows[] = {
        {1ms, 1000, ""},
        {1s, 3600, ""},
        {1s, 1, ""},
        {1ms, 1001, "most that fit are 1000"},
        {1s, 3601, "most that fit are 3600"},
        {1s, 0, "at least 1 bucket"},
    };
    for (const Row& row : rows) {
        const Result<SlidingCountersLimit> made = make_sliding_counters(
            *make_window_numbers(Units{1}, row.window), row.buckets, Edge::Strict);
        ASSERT_EQ(made.has_value(), row.says.empty()) << row.buckets;
        if (!made) {
            EXPECT_NE(made.error().what.find(row.says), std::string::npos) << made.error().what;
        }
    }
}

}  // namespace
}  // namespace sluice::window_limit_test
