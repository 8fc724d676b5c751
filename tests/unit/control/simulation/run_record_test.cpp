#include "control/simulation/run_record.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace sluice::run_record_test {
namespace {

using namespace std::chrono_literals;

Load every(Nanoseconds gap, std::uint64_t count) {
    Load load;
    load.arrivals = [gap, count, k = std::uint64_t{0}]() mutable -> std::optional<Arrival> {
        if (k == count) {
            return std::nullopt;
        }
        return Arrival{Instant{gap * static_cast<std::int64_t>(k++)}, Units{1}};
    };
    return load;
}

AnyLimit a_bucket(std::uint64_t per_second, std::uint64_t burst) {
    return TokenBucketLimit{*Limit::make({.units = Units{per_second}, .period = 1s}, Units{burst})};
}
AnyLimit a_queue(std::uint64_t per_second, std::uint64_t burst) {
    return LeakyBucketLimit{*Limit::make({.units = Units{per_second}, .period = 1s}, Units{burst})};
}
AnyLimit a_log(std::uint64_t count, Nanoseconds window) {
    return SlidingLogLimit{*make_window_numbers(Units{count}, window)};
}

bool always() {
    return true;
}

std::uint64_t sum(const DotList& list) {
    std::uint64_t units = 0;
    for (const Dot& dot : list.dots()) {
        units += dot.units;
    }
    return units;
}

TEST(RunRecord, HasEachArrivalWithItsFate) {
    const Course course{.duration = 1s};
    RunRecord record{a_bucket(10, 2), course, 1ms, always};
    (void)simulate(a_bucket(10, 2), every(50ms, 4), course, &record);
    const std::vector<Dot> expected{{Instant{0s}, Instant{0s}, 1, Fate::Admitted},
                                    {Instant{50ms}, Instant{50ms}, 1, Fate::Admitted},
                                    {Instant{100ms}, Instant{100ms}, 1, Fate::Admitted},
                                    {Instant{150ms}, Instant{150ms}, 1, Fate::Refused}};
    EXPECT_EQ(record.dots().dots(), expected);
    EXPECT_EQ(record.dots().step(), 1ns);
    EXPECT_EQ(record.end(), Instant{1s});
}

TEST(RunRecord, SaysWhenAQueuePassesOn) {
    const Course course{.duration = 1s};
    RunRecord record{a_queue(10, 3), course, 1ms, always};
    const Outcome out = simulate(a_queue(10, 3), every(0ns, 5), course, &record);
    const std::vector<Dot> expected{{Instant{0s}, Instant{0s}, 1, Fate::Admitted},
                                    {Instant{0s}, Instant{200ms}, 2, Fate::Delayed},
                                    {Instant{0s}, Instant{0s}, 2, Fate::Refused}};
    EXPECT_EQ(record.dots().dots(), expected);
    EXPECT_EQ(record.delayed(), 2U);
    EXPECT_EQ(out.total.admitted(), 3U);
}

TEST(RunRecord, AnArrivalThatNobodyAskedForWaits) {
    const Course course{.stalls = {{Instant{100ms}, 10s}}, .duration = 1s};
    RunRecord record{a_bucket(10, 2), course, 1ms, always};
    const Outcome out = simulate(a_bucket(10, 2), every(150ms, 2), course, &record);
    ASSERT_EQ(record.dots().dots().size(), 2U);
    EXPECT_EQ(record.dots().dots()[1].fate, Fate::Waiting);
    EXPECT_EQ(out.waiting, 1U);
}

// A run of any size has few dots and columns, and no unit is lost.
TEST(RunRecord, IsBoundedWhateverComes) {
    for (const Nanoseconds gap :
         {Nanoseconds{0}, Nanoseconds{1}, Nanoseconds{7'000}, Nanoseconds{1h}}) {
        const Course course;
        RunRecord record{a_bucket(1000, 10), course, 10us, always};
        const Outcome out = simulate(a_bucket(1000, 10), every(gap, 9'000), course, &record);
        EXPECT_LE(record.dots().dots().size(), kMostDots) << gap.count();
        EXPECT_EQ(sum(record.dots()), out.total.offered) << gap.count();
        EXPECT_LE(record.state().columns().size(), kMostStateColumns) << gap.count();
        EXPECT_GT(
            record.state().step() * static_cast<std::int64_t>(record.state().columns().size()),
            record.end().time_since_epoch());
    }
}

// 1 of 4 comes back each 250 ms.
TEST(RunRecord, ItsStateIsWhatTheBucketHas) {
    const Course course{.duration = 2s};
    RunRecord record{a_bucket(4, 4), course, 125ms, always};
    (void)simulate(a_bucket(4, 4), every(0ns, 3), course, &record);
    const std::vector<StateCourse::Column>& columns = record.state().columns();
    ASSERT_GE(columns.size(), 8U);
    EXPECT_EQ(columns[0], (StateCourse::Column{4, 1}));
    for (std::size_t at = 1; at < columns.size(); ++at) {
        const std::uint64_t left = std::min<std::uint64_t>(4, 1 + at / 2);
        EXPECT_EQ(columns[at], (StateCourse::Column{left, left})) << at;
    }
}

TEST(RunRecord, EndsTheRunWhenItIsTold) {
    int asked = 0;
    const Course course{.duration = 10s};
    RunRecord record{a_log(1'000'000, 1s), course, 1ms, [&asked] { return ++asked < 3; }};
    const Outcome out = simulate(a_log(1'000'000, 1s), every(1us, 1'000'000), course, &record);
    EXPECT_TRUE(out.stopped);
    EXPECT_EQ(asked, 3);
    EXPECT_LT(out.total.offered, 1000U);
    EXPECT_EQ(sum(record.dots()), out.total.offered);
}

TEST(RunRecord, MoreArrivalsThanTheCourseAllowsCutTheRun) {
    const Course course{.duration = 10s, .lines = std::size_t{1} << 12, .most_arrivals = 500};
    RunRecord record{a_log(10, 1s), course, 1ms, always};
    const Outcome out = simulate(a_log(10, 1s), every(1us, 1'000), course, &record);
    EXPECT_TRUE(out.cut);
    EXPECT_EQ(out.total.offered, 500U);
}

}  // namespace
}  // namespace sluice::run_record_test
