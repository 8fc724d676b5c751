#include "dataplane/worker/utc_clock.hpp"

#include <gtest/gtest.h>

#include <ctime>

namespace sluice::utc_clock_test {
namespace {

using namespace std::chrono_literals;

constexpr Nanoseconds kAhead = 1'700'000'000s;
constexpr Instant kStart{5s};

TEST(UtcClock, TellsEveryStepAndHowFarItWasSetBackInAll) {
    UtcClock clock{{kStart, kAhead}};
    EXPECT_EQ(clock.time_of_day().get(), (TimeOfDay{kAhead, 0s}));
    clock.note({kStart + 1s, kAhead + 999us});  // two readings are never of one instant
    clock.note({kStart + 2s, kAhead - 999us});
    EXPECT_EQ(clock.time_of_day().get(), (TimeOfDay{kAhead, 0s}));
    clock.note({kStart + 3s, kAhead + 72h});
    EXPECT_EQ(clock.time_of_day().get(), (TimeOfDay{kAhead + 72h, 0s}));
    clock.note({kStart + 4s, kAhead});
    EXPECT_EQ(clock.time_of_day().get(), (TimeOfDay{kAhead, 72h}));
    clock.note({kStart + 5s, kAhead - 1ms});
    EXPECT_EQ(clock.time_of_day().get(), (TimeOfDay{kAhead - 1ms, 72h + 1ms}));
    const ClockStats stats = clock.stats();
    EXPECT_EQ(stats.set_back, 2U);
    EXPECT_EQ(Nanoseconds{static_cast<std::int64_t>(stats.set_back_ns)}, 72h + 1ms);
    EXPECT_EQ(stats.set_ahead, 1U);
}

TEST(UtcClock, TellsForHowLongInstantsAreGood) {
    UtcClock clock{{kStart, kAhead}};
    const Instant good_until = kEndOfInstants - kLongestDebt;
    clock.note({good_until - 1s, kAhead});
    EXPECT_EQ(clock.stats().instants_left_ns, 1'000'000'000U);
    clock.note({good_until + 1s, kAhead});
    EXPECT_EQ(clock.stats().instants_left_ns, 0U);
}

TEST(UtcClock, ReadsBothClocksAtOneInstant) {
    const Nanoseconds lead = -1h;
    const std::time_t before = std::time(nullptr);
    const UtcClock::Reading reading = UtcClock::read(lead);
    const auto utc =
        std::chrono::floor<std::chrono::seconds>(reading.at.time_since_epoch() + reading.utc_ahead);
    EXPECT_GE(utc.count() + 1, before);
    EXPECT_LE(utc.count(), std::time(nullptr) + 1);
}

}  // namespace
}  // namespace sluice::utc_clock_test
