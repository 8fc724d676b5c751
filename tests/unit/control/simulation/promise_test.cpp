#include "control/simulation/promise.hpp"

#include "control/simulation/engine.hpp"
#include "lib/policy/limits/lone_limits.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace sluice::promise_test {
namespace {

using namespace std::chrono_literals;

AnyLimit limit_of(std::string_view text) {
    const LoneLimits read = read_lone_limits("- " + std::string{text}, 1);
    EXPECT_TRUE(read.limits.has_value()) << text;
    return read.limits->front().numbers;
}

struct PromiseRow {
    std::string_view limit;
    std::uint64_t most;  // in its window, or in a second
};
constexpr PromiseRow kRows[] = {
    {"{algorithm: token_bucket, rate: 10/s, burst: 5}", 15},
    {"{algorithm: token_bucket, rate: 90/m, burst: 5}", 6},
    {"{algorithm: leaky_bucket, rate: 10/s, queue: 5}", 15},
    {"{algorithm: fixed_window, count: 7, window: 1s}", 14},
    {"{algorithm: fixed_window, count: 7, window: 1s, phase: first}", 14},
    {"{algorithm: sliding_window, count: 7, window: 1s}", 13},
    {"{algorithm: sliding_counters, count: 7, window: 1s}", 7},
    {"{algorithm: sliding_counters, count: 7, window: 1s, edge: lenient}", 14},
    {"{algorithm: sliding_log, count: 7, window: 1s}", 7},
    {"{algorithm: srtcm, cir: 10/s, cbs: 3, ebs: 4}", 17},
    {"{algorithm: srtcm, cir: 10/s, cbs: 0, ebs: 4}", 14},
    {"{algorithm: trtcm, variant: rfc2698, cir: 5/s, cbs: 3, pir: 10/s, pbs: 4}", 14},
    {"{algorithm: trtcm, variant: rfc4115, cir: 5/s, cbs: 3, eir: 10/s, ebs: 4}", 22},
};

TEST(Promise, IsWhatTheTextOfTheLimitSays) {
    for (const PromiseRow& row : kRows) {
        const AnyLimit limit = limit_of(row.limit);
        Course course;
        course.window = window_of(limit).value_or(course.window);
        EXPECT_EQ(promised_most(limit, course, 10s), row.most) << row.limit;
    }
}

// Whatever comes: bursts of twice what fits, each of a length that meets edges in all ways.
TEST(Promise, IsKept) {
    for (const PromiseRow& row : kRows) {
        const AnyLimit limit = limit_of(row.limit);
        for (const Nanoseconds gap : {10ms, 90ms, 333ms, 501ms, 990ms}) {
            Load load;
            load.arrivals = [gap, k = 0]() mutable {
                return std::optional{Arrival{Instant{gap * (k++ / 50)}, Units{1}}};
            };
            Course course{.duration = 5s, .lines = std::size_t{1} << 14};
            course.window = window_of(limit).value_or(course.window);
            const Outcome out = simulate(limit, load, course);
            EXPECT_GT(out.most_in_window, 0U);
            EXPECT_LE(out.most_in_window, promised_most(limit, course, 5s)) << row.limit;
        }
    }
}

TEST(Promise, OfDaysKnowsThatTwentyFourHoursMayTouchThree) {
    const AnyLimit berlin =
        limit_of("{algorithm: fixed_window, count: 10, window: 1d, zone: Europe/Berlin}");
    Course course;
    course.window = *window_of(berlin);
    EXPECT_EQ(course.window, 24h);
    course.start =
        Nanoseconds{std::chrono::sys_days{std::chrono::year{2026} / 3 / 28}.time_since_epoch()};
    EXPECT_EQ(promised_most(berlin, course, 96h), 30U);
    EXPECT_EQ(promised_most(berlin, course, 1h), 10U) << "no midnight is in it";
    EXPECT_EQ(promised_most(berlin, course, 24h), 20U);
    course.start =
        Nanoseconds{std::chrono::sys_days{std::chrono::year{2026} / 6 / 1}.time_since_epoch()};
    EXPECT_EQ(promised_most(berlin, course, 96h), 20U);
}

}  // namespace
}  // namespace sluice::promise_test
