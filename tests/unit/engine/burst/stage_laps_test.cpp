#include "lib/engine/burst/stage_laps.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>

namespace sluice::stage_laps_test {
namespace {

// A clock that is set by hand and counts how often it is read.
struct Ticks {
    std::uint64_t now = 0;
    std::uint64_t readings = 0;
};
struct Read {
    Ticks* ticks;
    std::uint64_t operator()() const noexcept {
        ++ticks->readings;
        return ticks->now;
    }
};
using Laps = StageLaps<Read>;

// One turn with a burst of `packets`, each stage of which takes its number and one.
void busy_turn(Laps& laps, Ticks& ticks, std::size_t packets) {
    laps.begin_turn();
    if (laps.on()) {
        laps.met(packets);
    }
    for (std::size_t i = 0; i < kStageCount; ++i) {
        ticks.now += i + 1;
        laps.lap_if_on(static_cast<Stage>(i));
    }
    laps.end_turn(false);
}

TEST(StageLaps, OneTurnInSoManyReadsTheClock) {
    Ticks ticks;
    StageCounters counters;
    Laps laps{counters, {&ticks}};
    for (std::uint32_t turn = 1; turn < kTurnsPerSample; ++turn) {
        busy_turn(laps, ticks, 32);
    }
    EXPECT_EQ(ticks.readings, 0U);
    EXPECT_EQ(counters.turns.read(), 0U);
    busy_turn(laps, ticks, 32);
    EXPECT_EQ(ticks.readings, kStageCount + 2);
    busy_turn(laps, ticks, 32);
    EXPECT_EQ(ticks.readings, kStageCount + 2);
    EXPECT_EQ(counters.turns.read(), 1U);
    EXPECT_EQ(counters.packets.read(), 32U);
    for (std::size_t i = 0; i < kStageCount; ++i) {
        EXPECT_EQ(counters.ticks[i].read(), i + 1) << kStages[i].name;
    }
}

// What comes behind the last lap of a turn is housekeeping.
TEST(StageLaps, AllTimeOfAMeasuredTurnIsOfSomeStage) {
    Ticks ticks;
    StageCounters counters;
    Laps laps{counters, {&ticks}};
    laps.measure_turn();
    ticks.now += 10;
    laps.lap(Stage::Receive);
    ticks.now += 7;
    laps.end_turn(false);
    EXPECT_EQ(counters.ticks_of(Stage::Receive).read(), 10U);
    EXPECT_EQ(counters.ticks_of(Stage::Other).read(), 7U);
    EXPECT_FALSE(laps.on());
}

TEST(StageLaps, ATurnWithNothingToDoIsIdleAsAWhole) {
    Ticks ticks;
    StageCounters counters;
    Laps laps{counters, {&ticks}};
    laps.measure_turn();
    ticks.now += 10;
    laps.lap(Stage::Receive);
    ticks.now += 5;
    laps.lap(Stage::Other);
    ticks.now += 85;
    laps.end_turn(true);
    EXPECT_EQ(counters.ticks_of(Stage::Idle).read(), 100U);
    EXPECT_EQ(counters.ticks_of(Stage::Receive).read(), 0U);
    EXPECT_EQ(counters.ticks_of(Stage::Other).read(), 0U);
    EXPECT_EQ(counters.packets.read(), 0U);
}

// The kernel or a hypervisor may take the processor away within any stage, and no stage is blamed.
TEST(StageLaps, ALapInWhichOthersHadTheProcessorIsNoStages) {
    Ticks ticks;
    StageCounters counters;
    Laps laps{counters, {&ticks}};
    laps.measure_turn();
    ticks.now += Laps::kLongestLap;
    laps.lap(Stage::Meter);
    ticks.now += Laps::kLongestLap + 1;
    laps.lap(Stage::Key);
    ticks.now += Laps::kLongestLap * 10;  // a pause may be as long as it likes
    laps.lap(Stage::Idle);
    laps.end_turn(false);
    EXPECT_EQ(counters.ticks_of(Stage::Meter).read(), Laps::kLongestLap);
    EXPECT_EQ(counters.ticks_of(Stage::Key).read(), 0U);
    EXPECT_EQ(counters.ticks_of(Stage::Other).read(), Laps::kLongestLap + 1);
    EXPECT_EQ(counters.ticks_of(Stage::Idle).read(), Laps::kLongestLap * 10);
}

// Turns differ in length by orders of magnitude, and the shares are still those of all time.
TEST(StageLaps, SharesOfMeasuredTurnsAreThoseOfAllTime) {
    std::mt19937_64 random{7};
    Ticks ticks;
    StageCounters counters;
    Laps laps{counters, {&ticks}};
    std::uint64_t busy = 0;
    std::uint64_t idle = 0;
    for (std::size_t turn = 0; turn < std::size_t{1'000} * kTurnsPerSample; ++turn) {
        laps.begin_turn();
        const bool rests = random() % 4 != 0;
        const std::uint64_t takes = rests ? 50 + random() % 100 : 1'000 + random() % 20'000;
        ticks.now += takes;
        (rests ? idle : busy) += takes;
        laps.lap_if_on(rests ? Stage::Idle : Stage::Meter);
        laps.end_turn(rests);
    }
    const auto measured = static_cast<double>(counters.ticks_of(Stage::Meter).read());
    const auto rested = static_cast<double>(counters.ticks_of(Stage::Idle).read());
    const double share = static_cast<double>(busy) / static_cast<double>(busy + idle);
    EXPECT_NEAR(measured / (measured + rested), share, 0.02);
    EXPECT_NEAR(measured * kTurnsPerSample / static_cast<double>(busy), 1.0, 0.2);
}

}  // namespace
}  // namespace sluice::stage_laps_test
