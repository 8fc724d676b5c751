#include "lib/bucket/meter/fixed_window.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace sluice::day_window_test {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t kSpring = 1'774'746'000;  // 2026-03-29T01:00:00Z
constexpr std::int64_t kAutumn = 1'792'890'000;  // 2026-10-25T01:00:00Z

KeptZone zone(std::int32_t ahead, bool is_set) {
    ZoneOffsets offsets{.name = "Test/Zone", .first = ahead, .changes = {}};
    if (is_set) {
        offsets.changes = {{kSpring, ahead + 3600}, {kAutumn, ahead}};
    }
    return KeptZone::keep(std::move(offsets));
}
KeptZone berlin() {
    return zone(3600, true);
}

DayWindowLimit days(int count, KeptZone of = berlin()) {
    return *make_day_window(*make_window_numbers(Units{3}, 24h * count), of);
}

// UTC when the box has been up for 400 days.
Now at(std::int64_t utc, Nanoseconds later = 0ns) {
    constexpr Instant kUp{24h * 400};
    return Now{.at = kUp, .utc_ahead = std::chrono::seconds{utc} - kUp.time_since_epoch()}.moved_to(
        kUp + later);
}

TEST(DayWindow, LastsFromMidnightToMidnight) {
    struct Row {
        int days;
        std::int64_t begins;
        Nanoseconds lasts;
    };
    const Row rows[] = {
        {1, 1'774'652'400, 24h},  // 2026-03-28
        {1, 1'774'738'800, 23h},          {1, 1'774'821'600, 24h},
        {1, 1'792'879'200, 25h},   // 2026-10-25
        {7, 1'774'479'600, 167h},  // 2026-03-26, a Thursday as 1970-01-01 was
        {7, 1'792'620'000, 7 * 24h + 1h},
    };
    for (const Row& row : rows) {
        const DayWindowLimit numbers = days(row.days);
        FixedWindow window = FixedWindow::fresh(numbers, {});
        window.charge(numbers, at(row.begins), Units{2});
        window.charge(numbers, at(row.begins, row.lasts - 1ns), Units{1});
        EXPECT_EQ(window.wait(numbers, at(row.begins), Units{1}), row.lasts) << row.begins;
        EXPECT_EQ(window.wait(numbers, at(row.begins, row.lasts - 1ns), Units{3}), 1ns);
        EXPECT_EQ(window.wait(numbers, at(row.begins, row.lasts), Units{3}), 0ns) << row.begins;
        // One that began before has ended with the midnight.
        FixedWindow before = FixedWindow::fresh(numbers, {});
        before.charge(numbers, at(row.begins, -1ns), Units{3});
        EXPECT_EQ(before.remaining(numbers, at(row.begins)), Units{3}) << row.begins;
        EXPECT_EQ(window.counts(numbers, at(row.begins)).epoch,
                  before.counts(numbers, at(row.begins)).epoch);
    }
}

// For a window longer, but no longer than two: what tables take for the longest debt.
TEST(DayWindow, IsKeptForAsLongAgain) {
    const DayWindowLimit numbers = days(1);
    FixedWindow window = FixedWindow::fresh(numbers, {});
    EXPECT_EQ(window.fresh_from(numbers, at(kAutumn)), at(kAutumn).at);
    window.charge(numbers, at(1'774'738'800), Units{1});
    EXPECT_EQ(window.fresh_from(numbers, at(1'774'738'800)), at(0).at + 47h);
    window.charge(numbers, at(1'792'879'200), Units{1});
    EXPECT_EQ(window.fresh_from(numbers, at(1'792'879'200)), at(0).at + 48h);
}

TEST(DayWindow, AClockThatIsSetBackGivesNothing) {
    const DayWindowLimit numbers = days(1);
    for (const Nanoseconds back : {Nanoseconds{1h}, Nanoseconds{26h}, Nanoseconds{24h * 300}}) {
        FixedWindow window = FixedWindow::fresh(numbers, {});
        const Now now = at(kAutumn, 5h);
        window.charge(numbers, now, Units{3});
        const Now set{now.at, now.utc_ahead - back, back};
        EXPECT_EQ(window.remaining(numbers, set), Units{0});
        const Nanoseconds left = *window.wait(numbers, set, Units{1});
        EXPECT_LE(left, 49h);
        EXPECT_EQ(window.remaining(numbers, set.moved_to(set.at + left - 1ns)), Units{0});
        EXPECT_EQ(window.remaining(numbers, set.moved_to(set.at + left)), Units{3});
    }
}

// 2026-06-01T12:00:00Z; the day of the zone before ends at 21:00 in zone +3, at 05:00 next in -5.
constexpr std::int64_t kNoon = 1'780'315'200;

TEST(DayWindow, UnderAnotherZoneItCountsUntilADayThereEndsInWhichItsOwnHadNot) {
    struct Row {
        std::int32_t from;
        std::int32_t to;
        Nanoseconds left;
    };
    const Row rows[] = {
        {3 * 3600, 3 * 3600, 9h},   {3 * 3600, 4 * 3600, 32h},    {3 * 3600, 0, 12h},
        {0, 3 * 3600, 33h},         {-5 * 3600, 9 * 3600, 27h},  // tomorrow already
        {9 * 3600, -5 * 3600, 17h}, {-11 * 3600, 14 * 3600, 46h},
    };
    for (const Row& row : rows) {
        const DayWindowLimit from = days(1, zone(row.from, false));
        const DayWindowLimit to = days(1, zone(row.to, false));
        const Now now = at(kNoon);
        FixedWindow window = FixedWindow::fresh(from, {});
        window.charge(from, now, Units{2});
        window.renumber(from, to, now);
        EXPECT_EQ(window.used(to, now), Units{2}) << row.from << " to " << row.to;
        EXPECT_EQ(window.wait(to, now, Units{2}), row.left) << row.from << " to " << row.to;
        EXPECT_EQ(window.remaining(to, at(kNoon, row.left)), Units{3});
        // Nothing was used: nothing counts, nor does anything of yesterday.
        FixedWindow fresh = FixedWindow::fresh(from, {});
        fresh.charge(from, at(kNoon, -24h), Units{3});
        fresh.renumber(from, to, now);
        EXPECT_EQ(fresh.remaining(to, now), Units{3});
        fresh.charge(to, now, Units{3});
        EXPECT_LE(fresh.wait(to, now, Units{1}), 24h);
    }
}

TEST(DayWindow, IsWholeDays) {
    const KeptZone of = berlin();
    for (const Nanoseconds window : {Nanoseconds{1h}, Nanoseconds{25h}, Nanoseconds{24h + 1ns}}) {
        EXPECT_FALSE(make_day_window(*make_window_numbers(Units{1}, window), of));
    }
    EXPECT_TRUE(make_day_window(*make_window_numbers(Units{1}, 24h * 366), of));
    EXPECT_FALSE(make_day_window(*make_window_numbers(Units{1}, 24h), KeptZone{}));
}

}  // namespace
}  // namespace sluice::day_window_test
