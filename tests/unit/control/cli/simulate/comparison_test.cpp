#include "control/cli/simulate/comparison.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>

namespace sluice::comparison_test {
namespace {

using namespace std::chrono_literals;

Load backlog(std::uint64_t units, Nanoseconds ask_every) {
    Load load;
    load.backlog = Backlog{units, ask_every};
    return load;
}

std::vector<std::uint64_t> admitted(const Outcome& out) {
    std::vector<std::uint64_t> bars;
    for (const Bar& bar : out.bars) {
        bars.push_back(bar.admitted());
    }
    return bars;
}

using Bars = std::vector<std::uint64_t>;

// `first`, then `each` for so many bars, and so on.
Bars bars_of(std::initializer_list<std::pair<int, std::uint64_t>> stretches) {
    Bars bars;
    for (const auto& [length, each] : stretches) {
        bars.insert(bars.end(), static_cast<std::size_t>(length), each);
    }
    return bars;
}

// A count at the start of each second, nine times nothing between them.
Bars seconds(std::initializer_list<std::uint64_t> firsts) {
    Bars bars;
    for (const std::uint64_t first : firsts) {
        const Bars second = bars_of({{1, first}, {9, 0}});
        bars.insert(bars.end(), second.begin(), second.end());
    }
    bars.resize(bars.size() - 9);  // the run ends with its last unit
    return bars;
}

// The published comparison: 10,000 units ready at 0 s, 1,000 per second, asked each 100 us. A
// bucket gives 1,000 at once and the n-th more after n ms; after a stall of 1 s it is full again.
TEST(Comparison, IsWhatTheDefinitionsSay) {
    const std::map<std::string, Bars> undisturbed{
        {"token_bucket", bars_of({{1, 1099}, {89, 100}, {1, 1}})},
        {"fixed_window", seconds({1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000})},
        {"sliding_log", seconds({1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000})},
        {"counters_lenient", seconds({1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000})},
        {"srtcm", bars_of({{1, 1099}, {89, 100}, {1, 1}})},
        {"trtcm_rfc2698", bars_of({{1, 1099}, {89, 100}, {1, 1}})},
        // Each of its two buckets of 500 gives the n-th more after 2n ms.
        {"trtcm_rfc4115", bars_of({{1, 1098}, {89, 100}, {1, 2}})},
    };
    const std::map<std::string, Bars> stalled{
        // 4,999 until the stall; at 5 s full again, at 7 s too.
        {"token_bucket", bars_of({{1, 1099},
                                  {39, 100},
                                  {10, 0},
                                  {1, 1099},
                                  {9, 100},
                                  {10, 0},
                                  {1, 1099},
                                  {19, 100},
                                  {1, 3}})},
        {"fixed_window",
         seconds({1000, 1000, 1000, 1000, 0, 1000, 0, 1000, 1000, 1000, 1000, 1000})},
        {"sliding_log",
         seconds({1000, 1000, 1000, 1000, 0, 1000, 0, 1000, 1000, 1000, 1000, 1000})},
    };
    const Course course;
    const auto courses = compared_courses(course);
    const auto limits = compared_limits(SimulateOptions{}, Per::Packet);
    ASSERT_TRUE(limits.has_value());
    std::size_t checked = 0;
    for (const auto& [name, limit] : *limits) {
        for (const auto* expected : {&undisturbed, &stalled}) {
            const Course& here = courses[expected == &stalled ? 1 : 0];
            const Outcome out = simulate(limit, backlog(10'000, 100us), here);
            EXPECT_EQ(out.total.admitted(), 10'000U) << name;
            EXPECT_EQ(out.waiting, 0U);
            const auto row = expected->find(name);
            if (row != expected->end()) {
                EXPECT_EQ(admitted(out), row->second) << name;
                ++checked;
            }
        }
    }
    EXPECT_EQ(checked, undisturbed.size() + stalled.size());
    EXPECT_EQ(limits->size(), 10U);
}

// Edges of sub-windows lie at floor(k * 1 s / 60); strict counts the current one and 60 before it,
// so a burst in sub-window k is forgotten at the edge of k + 61: at 61/60 s, 2 + 2/60 s, ...
TEST(Comparison, StrictCountersDriftByASubWindowASecond) {
    const auto limits = compared_limits(SimulateOptions{}, Per::Packet);
    const Outcome out = simulate((*limits)[4].limit, backlog(10'000, 100us), Course{});
    ASSERT_EQ((*limits)[4].name, "sliding_counters");
    std::vector<std::size_t> at;
    for (std::size_t i = 0; i < out.bars.size(); ++i) {
        EXPECT_EQ(out.bars[i].admitted() % 1000, 0U);
        if (out.bars[i].admitted() != 0) {
            at.push_back(i);
        }
    }
    std::vector<std::size_t> expected;
    for (std::size_t n = 0; n < 10; ++n) {
        expected.push_back(n * 61 * 10 / 60);
    }
    EXPECT_EQ(at, expected);
    EXPECT_EQ(out.last_admitted, Instant{9150ms});
}

// A queue of 1,000 is emptied at 1 each ms, whoever asks when.
TEST(Comparison, ALeakyBucketIsEmptiedEvenly) {
    const auto limits = compared_limits(SimulateOptions{}, Per::Packet);
    ASSERT_EQ((*limits)[1].name, "leaky_bucket");
    for (const Course& course : compared_courses(Course{})) {
        const Outcome out = simulate((*limits)[1].limit, backlog(10'000, 100us), course);
        Bars leaving;
        for (const Bar& bar : out.bars) {
            leaving.push_back(bar.leaving);
        }
        // In a stall of 1 s the queue of 999 or 1,000 runs just empty.
        EXPECT_EQ(std::accumulate(leaving.begin(), leaving.end(), std::uint64_t{0}), 10'000U);
        EXPECT_EQ(*std::max_element(leaving.begin(), leaving.end()), 100U);
        EXPECT_LE(leaving.size(), 101U);
    }
}

}  // namespace
}  // namespace sluice::comparison_test
