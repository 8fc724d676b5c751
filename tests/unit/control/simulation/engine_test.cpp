#include "control/simulation/engine.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <utility>
#include <vector>

namespace sluice::engine_test {
namespace {

using namespace std::chrono_literals;

Load backlog(std::uint64_t units, Nanoseconds ask_every) {
    Load load;
    load.backlog = Backlog{units, ask_every};
    return load;
}
Load list_of(std::vector<Arrival> arrivals) {
    Load load;
    load.arrivals = [arrivals = std::move(arrivals), at = std::size_t{0}]() mutable {
        return at < arrivals.size() ? std::optional{arrivals[at++]} : std::nullopt;
    };
    return load;
}

AnyLimit token_bucket(std::uint64_t per_second, std::uint64_t burst) {
    return TokenBucketLimit{*Limit::make({.units = Units{per_second}, .period = 1s}, Units{burst})};
}
AnyLimit fixed_window(std::uint64_t count) {
    return *make_fixed_window(*make_window_numbers(Units{count}, 1s), WindowPhase::Clock, 0s);
}

TEST(Simulation, CountsWhatComesWhatPassesAndWhatDoesNot) {
    const Load load = list_of({{Instant{0s}, Units{2}},
                               {Instant{100ms}, Units{2}},
                               {Instant{250ms}, Units{1}},
                               {Instant{1s}, Units{3}}});
    const Outcome out = simulate(fixed_window(3), load, Course{.duration = 1200ms});
    ASSERT_EQ(out.bars.size(), 12U);
    EXPECT_EQ(out.bars[0], (Bar{.offered = 2, .green = 2}));
    EXPECT_EQ(out.bars[1], (Bar{.offered = 2, .refused = 2}));
    EXPECT_EQ(out.bars[2], (Bar{.offered = 1, .green = 1}));
    EXPECT_EQ(out.bars[10], (Bar{.offered = 3, .green = 3}));
    EXPECT_EQ(out.total, (Bar{.offered = 8, .green = 6, .refused = 2}));
    EXPECT_EQ(out.most_in_window, 4U);  // 1 at 250 ms and 3 at 1 s
    EXPECT_EQ(out.last_admitted, Instant{1s});
    EXPECT_FALSE(out.cut);
}

TEST(Simulation, WhatComesInAStallIsAskedAtItsEnd) {
    const Load load = list_of({{Instant{100ms}, Units{1}},
                               {Instant{250ms}, Units{1}},
                               {Instant{299ms}, Units{1}},
                               {Instant{950ms}, Units{1}}});
    const Course course{
        .stalls = {{Instant{100ms}, 100ms}, {Instant{200ms}, 100ms}, {Instant{900ms}, 1s}},
        .duration = 1s};
    const Outcome out = simulate(fixed_window(2), load, course);
    EXPECT_EQ(out.bars[1].offered, 1U);
    EXPECT_EQ(out.bars[3], (Bar{.green = 2, .refused = 1}));
    EXPECT_EQ(out.waiting, 1U);
    EXPECT_EQ(out.total, (Bar{.offered = 4, .green = 2, .refused = 1}));
}

// Asked on the beat: the second unit fits at 333,333,334 ns and is asked for at 340 ms.
TEST(Simulation, ABacklogIsAskedOnTheBeat) {
    const Outcome out = simulate(token_bucket(3, 1), backlog(2, 10ms), Course{});
    EXPECT_EQ(out.last_admitted, Instant{340ms});
    const Outcome stalled =
        simulate(token_bucket(3, 1), backlog(2, 7ms), Course{.stalls = {{Instant{330ms}, 15ms}}});
    EXPECT_EQ(stalled.last_admitted, Instant{350ms});
}

TEST(Simulation, ABacklogThatNeverFitsEnds) {
    Load load = backlog(5, 1ms);
    load.cost = Units{4};
    const Outcome out = simulate(fixed_window(3), load, Course{});
    EXPECT_EQ(out.waiting, 20U);
    EXPECT_EQ(out.total, (Bar{.offered = 20}));
    EXPECT_FALSE(out.cut);
}

TEST(Simulation, ARunWithoutADurationIsCutAtTheMostBars) {
    const AnyLimit slow =
        TokenBucketLimit{*Limit::make({.units = Units{1}, .period = 24h}, Units{1})};
    const Outcome out = simulate(slow, backlog(3, 1s), Course{});
    EXPECT_TRUE(out.cut);
    EXPECT_EQ(out.waiting, 2U);
    const Outcome longer = simulate(slow, backlog(3, 1s), Course{.bar = 1h});
    EXPECT_FALSE(longer.cut);
    EXPECT_EQ(longer.last_admitted, Instant{48h});
}

}  // namespace
}  // namespace sluice::engine_test
