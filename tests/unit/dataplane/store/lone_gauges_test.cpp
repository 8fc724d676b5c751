#include "lib/peer/merge/connection_gauges.hpp"

#include <gtest/gtest.h>

#include <vector>

// The gauges of one worker, with the store's answers made by hand.
namespace sluice::lone_gauges_test {
namespace {

using namespace std::chrono_literals;

constexpr LimitSlot kSlot = 1;
constexpr Instant kStart{1'000s};

Account account_of(std::uint64_t key) {
    return {.hash = (key + 1) * 0x9E37'79B9'7F4A'7C15, .slot = kSlot};
}

struct Lone {
    explicit Lone(std::uint32_t ahead, std::size_t ring = 256)
        : lane{{.machines = 2, .sync = 100ms, .ring = ring}, signals},
          gauges{&lane, 1024, kSlot + 1} {
        std::vector<ClusterBound> bounds(kSlot + 1);
        bounds[kSlot] = {ahead, 2, false, 2};
        gauges.set_cluster(bounds);
    }
    void open(std::uint64_t keys, Now now) {
        for (std::uint64_t key = 0; key < keys; ++key) {
            (void)gauges.admit(account_of(key), {1, 100, false}, now);
        }
    }
    // So many were told, none of which is answered.
    std::size_t tell(Now now) {
        gauges.tell(
            [&](const Account&) {
                ++looks;
                return 1;
            },
            now);
        lane.amounts.publish();
        const std::size_t told = lane.amounts.waiting(ring_most);
        lane.amounts.done(told);
        lane.amounts.retire(lane.amounts.acknowledged());
        return told;
    }

    static constexpr std::size_t ring_most = 1024;
    StoreSignals signals;
    StoreLane lane;
    ConnectionGauges gauges;
    std::size_t looks = 0;
};

// More keys hurry than there are places for: their next connections make them hurry again, and no
// time has to pass.
TEST(ConnectionGauges, WhoFindsNoPlaceToHurryTriesAgain) {
    Lone box{1};
    const Now now{.at = kStart};
    std::size_t told = 0;
    for (int turn = 0; turn < 5; ++turn) {
        box.open(200, now);
        told += box.tell(now);
    }
    EXPECT_EQ(told, 200U);
}

// What the ring had no room for comes with the next turn.
TEST(ConnectionGauges, AFullRingForgetsNobodyWhoHurries) {
    Lone box{1, 16};
    const Now now{.at = kStart};
    box.open(60, now);
    std::size_t told = 0;
    for (int turn = 0; turn < 5; ++turn) {
        told += box.tell(now);
    }
    EXPECT_EQ(told, 60U);
}

// However often a worker has a turn, a key costs a look once in `cluster.sync`, and all of them
// together no more than kVisitsPerSecond.
TEST(ConnectionGauges, AQuietKeyCostsALookOnceInASync) {
    Lone box{6};
    box.open(1, {.at = kStart});
    for (Instant at = kStart; at < kStart + 1s; at += 100us) {
        const std::size_t before = box.lane.amounts.waiting(1);
        ASSERT_EQ(before, 0U);
        if (box.tell({.at = at}) != 0) {
            StoreTotal answer{.account = account_of(0), .record = kGaugeRecord | 1U};
            box.gauges.take(answer);
        }
    }
    EXPECT_LE(box.looks, 12U);
    EXPECT_GE(box.looks, 8U);
}

// A store that has lost its gauges hears of the others' again in any order: until all have told
// them, what was heard before counts.
TEST(ConnectionGauges, WhatWasHeardBeforeALossCountsUntilOthersHaveToldIt) {
    Lone box{50};
    const auto answer = [&](std::uint32_t number, std::uint64_t others) {
        box.gauges.take(
            {.account = account_of(0), .record = kGaugeRecord | number, .current = others});
    };
    const auto admits = [&](std::uint64_t used, Instant at) {
        return box.gauges.judge(account_of(0), {used, 100, false}, {.at = at});
    };
    box.open(1, {.at = kStart});
    ASSERT_EQ(box.tell({.at = kStart}), 1U);
    answer(1, 60);
    EXPECT_EQ(admits(41, kStart), GaugeAnswer::OthersHaveIt);
    box.signals.losses.set(1);
    ASSERT_EQ(box.tell({.at = kStart + 1s}), 1U);
    answer(2, 0);
    EXPECT_EQ(admits(40, kStart + 1s), GaugeAnswer::Admitted);
    EXPECT_EQ(admits(41, kStart + 1s), GaugeAnswer::OthersHaveIt);
    EXPECT_EQ(admits(41, kStart + 1s + ConnectionGauges::kReturn), GaugeAnswer::Admitted);
}

}  // namespace
}  // namespace sluice::lone_gauges_test
