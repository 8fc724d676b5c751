#include "tests/rounds.hpp"
#include "tests/unit/peer/merge/adversary.hpp"

#include <gtest/gtest.h>

#include <algorithm>

// The same for windows: at every charge, what counts of all workers' charges is at most the count
// and (N - 1) * U, and what was charged is in the owner's total or unsynced.
namespace sluice::window_simulation_test {
namespace {

using namespace std::chrono_literals;

constexpr Nanoseconds kWindow = 5ms;
constexpr std::uint32_t kSubWindows = 20;

enum class Kind : std::uint8_t { ByClock, PerKey, Sliding, Strict, Lenient };

AnyLimit limit_of(Kind kind, std::uint64_t count, Nanoseconds window = kWindow,
                  std::uint32_t buckets = kSubWindows) {
    const WindowNumbers numbers = *make_window_numbers(Units{count}, window);
    switch (kind) {
        case Kind::Strict:
            return *make_sliding_counters(numbers, buckets, Edge::Strict);
        case Kind::Lenient:
            return *make_sliding_counters(numbers, buckets, Edge::Lenient);
        case Kind::Sliding:
            return SlidingWindowLimit{numbers};
        case Kind::ByClock:
            return *make_fixed_window(numbers, WindowPhase::Clock, 0s);
        default:
            return *make_fixed_window(numbers, WindowPhase::PerKey, 0s);
    }
}

std::string name_of(const testing::TestParamInfo<std::tuple<Kind, Scenario>>& test) {
    static constexpr std::array<const char*, 5> kNames = {"by_clock_", "per_key_", "sliding_",
                                                          "strict_", "lenient_"};
    return kNames[static_cast<std::size_t>(std::get<0>(test.param))] + std::get<1>(test.param).name;
}

class WindowSimulation : public testing::TestWithParam<std::tuple<Kind, Scenario>> {};

TEST_P(WindowSimulation, NoWindowIsBeyondThePromiseAndNothingIsLost) {
    const auto& [kind, scenario] = GetParam();
    const std::uint64_t count = std::max<std::uint64_t>(2 * 9 * scenario.workers, 64);
    for (std::uint64_t seed = 1; seed <= (scenario.workers > 16 ? 1U : 2U); ++seed) {
        Workers workers{{.limit = limit_of(kind, count), .max_unsynced = Adversary::kMaxUnsynced},
                        {.workers = scenario.workers,
                         .ring = scenario.ring,
                         .records = scenario.records,
                         .lines = scenario.lines,
                         .longest = scenario.longest,
                         .skew = scenario.skew}};
        Adversary adversary{workers, scenario, seed};
        const int steps = std::max(test::rounds(1'000), 150);  // so many fill ten windows
        for (int step = 0; step < steps; ++step) {
            adversary.step();
            for (std::uint64_t key = 0; key < std::min<std::uint64_t>(scenario.keys, 4); ++key) {
                ASSERT_TRUE(workers.nothing_lost(key, adversary.now()))
                    << scenario.name << " seed " << seed << " step " << step;
            }
            if (testing::Test::HasFatalFailure()) {
                FAIL() << scenario.name << " seed " << seed << " step " << step;
            }
        }
        Instant now = adversary.now();
        settle(workers, scenario, now);
        ASSERT_TRUE(workers.synced());
        EXPECT_TRUE(workers.owners_know_all(now));
        EXPECT_GT(workers.admitted(), 10 * count);
    }
}

INSTANTIATE_TEST_SUITE_P(
    Courses, WindowSimulation,
    testing::Combine(
        testing::Values(Kind::ByClock, Kind::PerKey, Kind::Sliding, Kind::Strict, Kind::Lenient),
        testing::Values(
            Scenario{.name = "alone", .workers = 1, .edge = kWindow},
            Scenario{.name = "two", .workers = 2, .edge = kWindow},
            Scenario{.name = "four", .workers = 4, .edge = kWindow},
            Scenario{.name = "seven", .workers = 7, .edge = kWindow, .skew = 700ns},
            Scenario{.name = "sixteen", .workers = 16, .edge = kWindow},
            Scenario{.name = "sixty_four", .workers = 64, .edge = kWindow, .skew = 50ns},
            Scenario{.name = "one_key", .workers = 4, .keys = 1, .edge = kWindow, .skew = 3us},
            Scenario{.name = "clocks_apart", .workers = 4, .edge = kWindow, .skew = 400us},
            Scenario{.name = "stalls", .workers = 4, .stalled = 2, .edge = kWindow, .skew = 1us},
            Scenario{.name = "all_but_one_stall",
                     .workers = 8,
                     .keys = 8,
                     .stalled = 7,
                     .edge = kWindow},
            Scenario{.name = "slow", .workers = 4, .slow = 50, .edge = kWindow, .skew = 1us},
            Scenario{.name = "full_rings", .workers = 4, .ring = 2, .keys = 40, .edge = kWindow},
            Scenario{.name = "full_rings_and_stalls",
                     .workers = 5,
                     .ring = 1,
                     .keys = 60,
                     .stalled = 2,
                     .edge = kWindow},
            Scenario{
                .name = "few_records", .workers = 4, .records = 3, .keys = 50, .edge = kWindow},
            Scenario{.name = "few_lines", .workers = 4, .keys = 50, .edge = kWindow, .lines = 20},
            Scenario{.name = "waits", .workers = 4, .longest = 3ms, .edge = kWindow},
            Scenario{
                .name = "killed", .workers = 3, .restarts = true, .edge = kWindow, .skew = 1us},
            Scenario{.name = "killed_with_full_rings",
                     .workers = 4,
                     .ring = 2,
                     .records = 16,
                     .keys = 20,
                     .restarts = true,
                     .edge = kWindow})),
    name_of);

// Offered steadily, worker after worker: at the end of each window, what was admitted is no less
// than the count gives or than was offered, but for one in a hundred; of sub-windows, than one
// worker alone would have admitted if units lasted one sub-window longer.
struct Steady {
    std::size_t workers;
    Nanoseconds gap;  // between packets
    unsigned stay;    // packets in a row at one worker
};

void offer_steadily(const Steady& steady, Kind kind) {
    constexpr std::uint64_t kCount = 4'000;
    constexpr Nanoseconds kLong = 40ms;
    constexpr Nanoseconds kTurn = 20us;
    // As in simulation_test: there and back takes a merge interval and two turns.
    constexpr std::uint64_t kMaxUnsynced = 2 * 100'000 * 11 / 10 / 1'000 + 1;
    Workers workers{{.limit = limit_of(kind, kCount, kLong), .max_unsynced = kMaxUnsynced},
                    {.workers = steady.workers}};
    Workers alone{{.limit = limit_of(kind, kCount, kLong + kLong / kSubWindows, kSubWindows + 1),
                   .max_unsynced = kMaxUnsynced},
                  {.workers = 1}};
    const bool in_parts = kind == Kind::Strict || kind == Kind::Lenient;
    const Instant start{1s};  // a window begins
    const auto windows = static_cast<std::uint64_t>(std::max(test::rounds(12), 2));
    Instant turned = start;
    std::uint64_t offered = 0;
    std::uint64_t passed = 1;
    for (Instant now = start; passed <= windows; now += steady.gap, ++offered) {
        for (; turned <= now; turned += kTurn) {
            for (std::size_t worker = 0; worker < steady.workers; ++worker) {
                workers.poll(worker, turned);
            }
        }
        if (now >= start + static_cast<std::int64_t>(passed) * kLong) {
            const std::uint64_t due =
                in_parts ? alone.admitted() : std::min(offered, kCount * passed);
            ASSERT_GE(workers.admitted() * 100, due * 99) << "window " << passed;
            ++passed;
        }
        (void)workers.offer((offered / steady.stay) % steady.workers, 0, 1, now);
        (void)alone.offer(0, 0, 1, now);
        ASSERT_LE(workers.worst_overshoot(), workers.promised_overshoot());
    }
}

TEST(WindowSimulationSteady, AdmitsWhatTheCountGives) {
    for (const Kind kind :
         {Kind::ByClock, Kind::PerKey, Kind::Sliding, Kind::Strict, Kind::Lenient}) {
        for (const std::size_t workers : {1U, 2U, 8U}) {
            for (const Nanoseconds gap : {2us, 10us, 20us}) {
                for (const unsigned stay : {1U, 500U, 60'000U}) {
                    SCOPED_TRACE(testing::Message()
                                 << static_cast<int>(kind) << ": " << workers << " workers, "
                                 << gap.count() << " ns, " << stay);
                    offer_steadily({workers, gap, stay}, kind);
                }
            }
        }
    }
}

// What comes back is the total and what has been spent here since: no more, and no less.
TEST(WindowSimulationTurn, ACopyHasTheTotalAndWhatIsUnsynced) {
    for (const Kind kind : {Kind::ByClock, Kind::PerKey, Kind::Sliding}) {
        Workers workers{{.limit = limit_of(kind, 100, 10s), .max_unsynced = 10}, {.workers = 2}};
        const std::size_t owner = workers.owner(0);
        const std::size_t other = 1 - owner;
        const Instant now{1s};
        EXPECT_TRUE(workers.offer(other, 0, 5, now));  // half of what may be unsynced: sent
        EXPECT_TRUE(workers.offer(owner, 0, 20, now));
        EXPECT_TRUE(workers.offer(other, 0, 2, now));
        workers.poll(owner, now);
        workers.poll(other, now);
        EXPECT_EQ(workers.copy_of(owner, 0, now).counts.current, 25U);
        EXPECT_EQ(workers.copy_of(other, 0, now).counts.current, 27U);
        EXPECT_EQ(workers.most_unsynced(0), 2U);
    }
}

// What waits is told once the window has turned, and what comes then waits anew.
TEST(WindowSimulationTurn, WhatWaitsIsToldWhenTheWindowHasTurned) {
    Workers workers{{.limit = limit_of(Kind::Sliding, 100), .max_unsynced = 30}, {.workers = 2}};
    const std::size_t owner = workers.owner(0);
    const std::size_t other = 1 - owner;
    const Instant end = Instant{1s} + kWindow;
    EXPECT_TRUE(workers.offer(other, 0, 12, Instant{1s}));
    workers.poll(other, end - 1ns);
    EXPECT_EQ(workers.sum(LedgerEvent::Sent), 0U);
    EXPECT_TRUE(workers.offer(other, 0, 3, end));
    workers.poll(other, end + 1100us);
    EXPECT_EQ(workers.sum(LedgerEvent::Sent), 1U);
    workers.poll(owner, end + 1100us);
    EXPECT_EQ(workers.copy_of(owner, 0, end + 1100us).counts.previous, 12U);
    EXPECT_EQ(workers.copy_of(owner, 0, end + 1100us).counts.current, 0U);
    workers.poll(other, end + 1100us);
    EXPECT_EQ(workers.most_unsynced(0), 3U);
}

// An amount of a window that is over is neither lost in the old one nor found in the new one.
TEST(WindowSimulationTurn, AnOldAmountIsNotMergedIntoANewWindow) {
    Workers workers{{.limit = limit_of(Kind::ByClock, 100), .max_unsynced = 20}, {.workers = 2}};
    const std::size_t owner = workers.owner(0);
    const std::size_t other = 1 - owner;
    const Instant end = Instant{1s} + kWindow;
    EXPECT_TRUE(workers.offer(other, 0, 20, end - 2ns));  // sent at once
    EXPECT_TRUE(workers.offer(owner, 0, 30, end - 1ns));
    EXPECT_TRUE(workers.offer(owner, 0, 7, end));
    EXPECT_FALSE(workers.offer(other, 0, 1, end));  // no credit before the old amount is done with
    workers.poll(owner, end);
    EXPECT_EQ(workers.copy_of(owner, 0, end).counts.current, 7U);
    EXPECT_EQ(workers.sum(LedgerEvent::Expired), 1U);
    workers.poll(other, end);
    EXPECT_EQ(workers.copy_of(other, 0, end).counts.current, 7U);
    EXPECT_TRUE(workers.synced());
}

TEST(WindowSimulationTurn, AnOldAmountCountsInTheWindowBefore) {
    Workers workers{{.limit = limit_of(Kind::Sliding, 100), .max_unsynced = 20}, {.workers = 2}};
    const std::size_t owner = workers.owner(0);
    const std::size_t other = 1 - owner;
    const Instant end = Instant{1s} + kWindow;
    EXPECT_TRUE(workers.offer(other, 0, 10, end - 2ns));
    EXPECT_TRUE(workers.offer(owner, 0, 32, end - 1ns));
    EXPECT_TRUE(workers.offer(other, 0, 10, end));
    workers.poll(other, end + 2ms);
    workers.poll(owner, end + 2ms);
    workers.poll(other, end + 2ms);
    for (const std::size_t worker : {owner, other}) {
        EXPECT_EQ(workers.copy_of(worker, 0, end).counts.previous, 42U);
        EXPECT_EQ(workers.copy_of(worker, 0, end).counts.current, 10U);
    }
    EXPECT_EQ(workers.sum(LedgerEvent::Applied), 2U);
    EXPECT_TRUE(workers.synced());
}

// A worker whose clock is behind learns from the owner that its window is over.
TEST(WindowSimulationTurn, ATotalOpensTheNextWindow) {
    Workers workers{{.limit = limit_of(Kind::ByClock, 100), .max_unsynced = 20},
                    {.workers = 2, .skew = 10us}};
    std::uint64_t key = 0;
    while (workers.owner(key) != 1) {
        ++key;
    }
    const Instant end = Instant{1s} + kWindow - 5us;  // for the owner, but not for the other
    EXPECT_TRUE(workers.offer(0, key, 20, end));
    workers.poll(1, end);
    workers.poll(0, end);
    EXPECT_TRUE(workers.synced());
    EXPECT_EQ(workers.copy_of(0, key, end).counts.epoch, workers.copy_of(1, key, end).counts.epoch);
    EXPECT_EQ(workers.copy_of(0, key, end).counts.current, 0U);
    EXPECT_TRUE(workers.offer(0, key, 3, end));
    workers.poll(0, end + 1us);
    EXPECT_EQ(workers.copy_of(0, key, end + 1us).counts.current, 3U);
}

// The owner that has no line for a key's windows says so, and is asked again.
TEST(WindowSimulationTurn, AnOwnerWithoutALineAnswersLater) {
    Workers workers{{.limit = limit_of(Kind::Sliding, 100, 10s), .max_unsynced = 20},
                    {.workers = 2, .lines = 32}};
    Instant now{1s};
    std::uint64_t offered = 0;
    const auto next_of_owner = [&] {
        while (workers.owner(offered) != 0) {
            ++offered;
        }
        return offered++;
    };
    for (int i = 0; i < 40; ++i) {
        (void)workers.offer(0, next_of_owner(), 10, now);  // until its lines are taken
    }
    for (int i = 0; i < 20; ++i) {
        (void)workers.offer(1, next_of_owner(), 10, now);  // half of U: told at once
        now += 100us;
        workers.poll(0, now);
        workers.poll(1, now);
    }
    EXPECT_GT(workers.sum(LedgerEvent::NoPlace), 0U);
    EXPECT_GT(workers.sum(LedgerEvent::Returned), 0U);
    for (std::uint64_t key = 0; key < offered; ++key) {
        EXPECT_TRUE(workers.nothing_lost(key, now)) << key;
    }
    EXPECT_FALSE(workers.synced());
}

}  // namespace
}  // namespace sluice::window_simulation_test
