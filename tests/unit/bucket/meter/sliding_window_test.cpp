#include "lib/bucket/meter/sliding_window.hpp"

#include <gtest/gtest.h>

namespace sluice::sliding_window_test {
namespace {

using namespace std::chrono_literals;

SlidingWindowLimit limit(std::uint64_t count) {
    return {*make_window_numbers(Units{count}, 1s)};
}

TEST(SlidingWindow, TheEarlierWindowCountsByItsShare) {
    const SlidingWindowLimit numbers = limit(10);
    SlidingWindow window;
    window.charge(numbers, Instant{5900ms}, Units{10});
    EXPECT_EQ(window.remaining(numbers, Instant{5999ms}), Units{0});
    EXPECT_EQ(window.remaining(numbers, Instant{6000ms}), Units{0});
    EXPECT_EQ(window.remaining(numbers, Instant{6350ms}), Units{3});
    EXPECT_EQ(window.wait(numbers, Instant{5900ms}, Units{1}), 200ms);
    EXPECT_EQ(window.wait(numbers, Instant{5900ms}, Units{10}), 1100ms);
    EXPECT_EQ(window.fresh_from(numbers, Instant{5900ms}), Instant{7s});
}

// A count that was lowered below what was used: all of that goes on to count, each window by its
// share.
TEST(SlidingWindow, FewerUnitsThanWereUsed) {
    SlidingWindow window;
    window.charge(limit(1000), Instant{5s}, Units{1000});
    EXPECT_EQ(window.remaining(limit(3), Instant{6300ms}), Units{0});
    EXPECT_EQ(window.used(limit(3), Instant{6300ms}), Units{700});
    EXPECT_EQ(window.wait(limit(3), Instant{6300ms}, Units{1}), 698ms);
    EXPECT_EQ(window.remaining(limit(1000), Instant{6300ms}), Units{300});

    SlidingWindow both;
    both.charge(limit(1000), Instant{5s}, Units{300});
    both.charge(limit(1000), Instant{6300ms}, Units{500});
    EXPECT_EQ(both.wait(limit(200), Instant{6300ms}, Units{200}), 1700ms);
    EXPECT_EQ(both.remaining(limit(200), Instant{7500ms}), Units{0});
    EXPECT_EQ(both.remaining(limit(200), Instant{7800ms}), Units{100});
}

// Counted before UTC was set back by an hour and the process began anew: it counts as the next
// window does.
TEST(SlidingWindow, AWindowFarAheadOfItsClockIsTheNext) {
    const SlidingWindowLimit numbers{*make_window_numbers(Units{10}, 1s), WindowClock::Utc};
    SlidingWindow window;
    window.charge(numbers, Instant{3605'500ms}, Units{10});
    EXPECT_EQ(window.counts(numbers, Instant{5500ms}), (WindowCounts{6, 10, 0}));
    EXPECT_FALSE(window.admits(numbers, Instant{5500ms}, Units{1}));
    EXPECT_EQ(window.wait(numbers, Instant{5500ms}, Units{1}), 1600ms);
    // One that is the next already, as clocks of workers may differ, is that.
    SlidingWindow next;
    next.charge(numbers, Instant{6'100ms}, Units{4});
    EXPECT_EQ(next.counts(numbers, Instant{5900ms}), (WindowCounts{6, 4, 0}));
    EXPECT_EQ(next.wait(numbers, Instant{5900ms}, Units{7}), 1350ms);
}

}  // namespace
}  // namespace sluice::sliding_window_test
