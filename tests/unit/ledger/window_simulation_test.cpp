#include "tests/rounds.hpp"
#include "tests/unit/ledger/adversary.hpp"

#include <gtest/gtest.h>

// The same for windows: at every charge, what counts of all workers' charges is at most the count
// and (N - 1) * U, and what was charged is in the owner's total or unsynced.
namespace sluice::window_simulation_test {
namespace {

using namespace std::chrono_literals;

constexpr Nanoseconds kWindow = 5ms;

enum class Kind : std::uint8_t { ByClock, PerKey, Sliding };

AnyLimit limit_of(Kind kind, std::uint64_t count, Nanoseconds window = kWindow) {
    const WindowNumbers numbers = *make_window_numbers(Units{count}, window);
    if (kind == Kind::Sliding) {
        return SlidingWindowLimit{numbers};
    }
    const WindowPhase phase = kind == Kind::ByClock ? WindowPhase::Clock : WindowPhase::PerKey;
    return *make_fixed_window(numbers, phase, 0s);
}

std::string name_of(const testing::TestParamInfo<std::tuple<Kind, Course>>& test) {
    static constexpr std::array<const char*, 3> kNames = {"by_clock_", "per_key_", "sliding_"};
    return kNames[static_cast<std::size_t>(std::get<0>(test.param))] + std::get<1>(test.param).name;
}

class WindowSimulation : public testing::TestWithParam<std::tuple<Kind, Course>> {};

TEST_P(WindowSimulation, NoWindowIsBeyondThePromiseAndNothingIsLost) {
    const auto& [kind, course] = GetParam();
    const std::uint64_t count = std::max<std::uint64_t>(2 * 9 * course.workers, 64);
    for (std::uint64_t seed = 1; seed <= (course.workers > 16 ? 1U : 4U); ++seed) {
        Workers workers{{.limit = limit_of(kind, count), .max_unsynced = Adversary::kMaxUnsynced},
                        {.workers = course.workers,
                         .ring = course.ring,
                         .records = course.records,
                         .lines = course.lines,
                         .skew = course.skew}};
        Adversary adversary{workers, course, seed};
        for (int step = 0; step < test::rounds(2'000); ++step) {
            adversary.step();
            for (std::uint64_t key = 0; key < std::min<std::uint64_t>(course.keys, 4); ++key) {
                ASSERT_TRUE(workers.nothing_lost(key, adversary.now()))
                    << course.name << " seed " << seed << " step " << step;
            }
            if (testing::Test::HasFatalFailure()) {
                FAIL() << course.name << " seed " << seed << " step " << step;
            }
        }
        Instant now = adversary.now();
        settle(workers, course, now);
        ASSERT_TRUE(workers.synced());
        EXPECT_TRUE(workers.owners_know_all(now));
        EXPECT_GT(workers.admitted(), 10 * count);
    }
}

INSTANTIATE_TEST_SUITE_P(
    Courses, WindowSimulation,
    testing::Combine(
        testing::Values(Kind::ByClock, Kind::PerKey, Kind::Sliding),
        testing::Values(
            Course{.name = "alone", .workers = 1, .edge = kWindow},
            Course{.name = "two", .workers = 2, .edge = kWindow},
            Course{.name = "four", .workers = 4, .edge = kWindow},
            Course{.name = "seven", .workers = 7, .edge = kWindow, .skew = 700ns},
            Course{.name = "sixteen", .workers = 16, .edge = kWindow},
            Course{.name = "sixty_four", .workers = 64, .edge = kWindow, .skew = 50ns},
            Course{.name = "one_key", .workers = 4, .keys = 1, .edge = kWindow, .skew = 3us},
            Course{.name = "clocks_apart", .workers = 4, .edge = kWindow, .skew = 400us},
            Course{.name = "stalls", .workers = 4, .stalled = 2, .edge = kWindow, .skew = 1us},
            Course{.name = "all_but_one_stall",
                   .workers = 8,
                   .keys = 8,
                   .stalled = 7,
                   .edge = kWindow},
            Course{.name = "slow", .workers = 4, .slow = 50, .edge = kWindow, .skew = 1us},
            Course{.name = "full_rings", .workers = 4, .ring = 2, .keys = 40, .edge = kWindow},
            Course{.name = "full_rings_and_stalls",
                   .workers = 5,
                   .ring = 1,
                   .keys = 60,
                   .stalled = 2,
                   .edge = kWindow},
            Course{.name = "few_records", .workers = 4, .records = 3, .keys = 50, .edge = kWindow},
            Course{.name = "few_lines", .workers = 4, .keys = 50, .edge = kWindow, .lines = 20},
            Course{.name = "killed", .workers = 3, .restarts = true, .edge = kWindow, .skew = 1us},
            Course{.name = "killed_with_full_rings",
                   .workers = 4,
                   .ring = 2,
                   .records = 16,
                   .keys = 20,
                   .restarts = true,
                   .edge = kWindow})),
    name_of);

}  // namespace
}  // namespace sluice::window_simulation_test
