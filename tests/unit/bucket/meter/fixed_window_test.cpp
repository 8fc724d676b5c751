#include "lib/bucket/meter/fixed_window.hpp"

#include <gtest/gtest.h>

#include <set>

namespace sluice::fixed_window_test {
namespace {

using namespace std::chrono_literals;

FixedWindowLimit limit(std::uint64_t count, Nanoseconds window, WindowPhase phase,
                       Nanoseconds utc_offset = 0s) {
    return *make_fixed_window(*make_window_numbers(Units{count}, window), phase, utc_offset);
}

// 2023-11-14T22:13:20Z when the box has been up for a second.
constexpr Now kNow{.at = Instant{1s}, .utc_ahead = 1'700'000'000s - 1s};

Now later(Nanoseconds by) {
    return {.at = kNow.at + by, .utc_ahead = kNow.utc_ahead};
}

TEST(FixedWindow, TheClockAlignsWindowsToUtcPlusAnOffset) {
    struct Row {
        Nanoseconds window;
        Nanoseconds utc_offset;
        Nanoseconds until_end;
    };
    const Row rows[] = {
        {1h, 0s, 46min + 40s},                 // 23:00 UTC
        {24h, 0s, 1h + 46min + 40s},           // midnight in Greenwich
        {24h, 1h, 46min + 40s},                // in Paris
        {24h, 5h + 30min, 20h + 16min + 40s},  // in Delhi
        {24h, -5h, 6h + 46min + 40s},          // in New York
    };
    for (const Row& row : rows) {
        const FixedWindowLimit numbers = limit(5, row.window, WindowPhase::Clock, row.utc_offset);
        FixedWindow window = FixedWindow::fresh(numbers, {});
        window.charge(numbers, kNow, Units{5});
        EXPECT_EQ(window.wait(numbers, kNow, Units{1}), row.until_end);
        // For as long again, if the clock is set back meanwhile.
        EXPECT_EQ(window.fresh_from(numbers, kNow), kNow.at + row.until_end + row.window);
        EXPECT_FALSE(window.admits(numbers, later(row.until_end - 1ns), Units{1}));
        EXPECT_TRUE(window.admits(numbers, later(row.until_end), Units{5}));
    }
}

TEST(FixedWindow, AWindowMayBeginBeforeTheEpoch) {
    const FixedWindowLimit numbers = limit(5, 24h, WindowPhase::Clock, -1h);
    FixedWindow window = FixedWindow::fresh(numbers, {});
    window.charge(numbers, {.at = Instant{1s}}, Units{5});
    EXPECT_EQ(window.wait(numbers, {.at = Instant{1s}}, Units{1}), 1h - 1s);
}

TEST(FixedWindow, TheFirstUnitBeginsAWindow) {
    const FixedWindowLimit numbers = limit(3, 1s, WindowPhase::First);
    FixedWindow window = FixedWindow::fresh(numbers, {});
    window.charge(numbers, later(300ms), Units{1});
    window.charge(numbers, later(800ms), Units{2});
    EXPECT_EQ(window.wait(numbers, later(800ms), Units{1}), 500ms);
    EXPECT_EQ(window.remaining(numbers, later(1300ms)), Units{3});
    window.charge(numbers, later(1700ms), Units{3});
    EXPECT_EQ(window.wait(numbers, later(1700ms), Units{1}), 1s);
}

// Keys start anew at different times, each at the same one again and again.
TEST(FixedWindow, EachKeyHasItsOwnOffset) {
    const FixedWindowLimit numbers = limit(3, 1s, WindowPhase::PerKey);
    std::set<Nanoseconds> ends;
    for (std::uint64_t key = 1; key <= 100; ++key) {
        FixedWindow window = FixedWindow::fresh(numbers, {key * 0x9E37'79B9'7F4A'7C15});
        window.charge(numbers, kNow, Units{3});
        const Nanoseconds end = *window.wait(numbers, kNow, Units{1});
        ends.insert(end);
        window.charge(numbers, later(end), Units{3});
        EXPECT_EQ(window.wait(numbers, later(end), Units{1}), 1s);
    }
    EXPECT_GT(ends.size(), 95U);
    EXPECT_LT(*ends.begin(), 100ms);
    EXPECT_GT(*ends.rbegin(), 900ms);
}

TEST(FixedWindow, AnIndexNeverGoesBack) {
    const FixedWindowLimit numbers = limit(3, 1s, WindowPhase::Clock);
    FixedWindow window = FixedWindow::fresh(numbers, {});
    window.charge(numbers, later(1s), Units{3});
    EXPECT_FALSE(window.admits(numbers, kNow, Units{1}));
    EXPECT_EQ(window.wait(numbers, kNow, Units{1}), 2s);
}

// The clock is set back by whole windows and a part: the window that stands lasts for that part
// longer, and those after it are aligned to UTC as it is now.
TEST(FixedWindow, AClockThatIsSetBackMakesAWindowLongerByLessThanAnother) {
    const FixedWindowLimit numbers = limit(3, 1s, WindowPhase::Clock);
    for (const Nanoseconds back : {Nanoseconds{1ns}, Nanoseconds{300ms}, Nanoseconds{10s + 300ms},
                                   Nanoseconds{24h * 400 + 300ms}}) {
        FixedWindow window = FixedWindow::fresh(numbers, {});
        window.charge(numbers, later(600ms), Units{3});
        const Now set{kNow.at + 700ms, kNow.utc_ahead - back, back};
        const Nanoseconds part = back % 1s;
        EXPECT_EQ(window.wait(numbers, set, Units{1}), 300ms + part);
        EXPECT_LE(set.at + 300ms + part, window.fresh_from(numbers, later(600ms)));
        const Now end = set.moved_to(set.at + 300ms + part);
        EXPECT_FALSE(window.admits(numbers, end.moved_to(end.at - 1ns), Units{1}));
        EXPECT_EQ(end.utc() % 1s, 0s);
        window.charge(numbers, end, Units{3});
        EXPECT_EQ(window.wait(numbers, end, Units{1}), 1s);
    }
}

// Nobody tells a process how often UTC was set back before it.
TEST(FixedWindow, ACountFromTheFutureLastsUntilTheNextWindowHasEnded) {
    const FixedWindowLimit numbers = limit(3, 1s, WindowPhase::Clock);
    FixedWindow window = FixedWindow::fresh(numbers, {});
    window.charge(numbers, later(24h * 3), Units{2});
    EXPECT_EQ(window.remaining(numbers, kNow), Units{1});
    EXPECT_EQ(window.wait(numbers, kNow, Units{2}), 2s);
    window.charge(numbers, kNow, Units{1});
    EXPECT_EQ(window.fresh_from(numbers, kNow), kNow.at + 2s);
    EXPECT_FALSE(window.admits(numbers, later(2s - 1ns), Units{1}));
    EXPECT_TRUE(window.admits(numbers, later(2s), Units{3}));
}

TEST(FixedWindow, ACostAboveTheCountNeverFits) {
    const FixedWindowLimit numbers = limit(3, 1s, WindowPhase::Clock);
    const FixedWindow window = FixedWindow::fresh(numbers, {});
    EXPECT_FALSE(window.admits(numbers, kNow, Units{4}));
    EXPECT_EQ(window.wait(numbers, kNow, Units{4}), std::nullopt);
}

// Boxes that count together: by UTC, whatever the instants are of, and in whole us.
TEST(FixedWindow, PerKeyByUtcIsNumberedAlikeOnAllBoxes) {
    FixedWindowLimit numbers = limit(3, 1s, WindowPhase::PerKey);
    numbers.clock = WindowClock::Utc;
    const GroupKey key{0x1234'5678'9ABC'DEF1};
    EXPECT_EQ(offset_of_key(numbers, key) % 1'000, 0);
    FixedWindow one = FixedWindow::fresh(numbers, key);
    FixedWindow other = FixedWindow::fresh(numbers, key);
    const Now here{Instant{5s}, 1'000'000s};
    const Now there{Instant{400s}, 1'000'000s - 395s};
    one.charge(numbers, here, Units{2});
    other.charge(numbers, there, Units{1});
    EXPECT_EQ(one.counts(numbers, here).epoch, other.counts(numbers, there).epoch);
    EXPECT_EQ(one.wait(numbers, here, Units{2}), other.wait(numbers, there, Units{3}));
    EXPECT_FALSE((FixedWindowLimit{
        .numbers = numbers.numbers, .phase = WindowPhase::First, .clock = WindowClock::Utc}
                      .checked()
                      .has_value()));
}

}  // namespace
}  // namespace sluice::fixed_window_test
