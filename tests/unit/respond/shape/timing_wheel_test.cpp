#include "lib/respond/shape/timing_wheel.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <random>
#include <span>
#include <utility>
#include <vector>

namespace sluice::timing_wheel_test {
namespace {

using namespace std::chrono_literals;
using Wheel = TimingWheel<std::uint32_t>;

constexpr Instant kStart{77h + 123'456'789ns};

std::vector<std::uint32_t> due(Wheel& wheel, Instant now, std::size_t most = 64) {
    std::vector<std::uint32_t> out(most);
    out.resize(wheel.take_due(now, out));
    return out;
}

std::vector<std::uint32_t> any(Wheel& wheel, std::size_t most = 64) {
    std::vector<std::uint32_t> out(most);
    out.resize(wheel.take_any(out));
    return out;
}

using Values = std::vector<std::uint32_t>;

TEST(TimingWheel, NothingLeavesEarlyAndNothingIsLateByMoreThanASlot) {
    for (const Nanoseconds delay : {1ns, 16'383ns, 16'384ns, 1'000'000ns, 59'999'999'999ns}) {
        Wheel wheel{4};
        ASSERT_TRUE(wheel.insert(9, kStart, kStart + delay));
        EXPECT_EQ(due(wheel, kStart + delay - 1ns), Values{}) << delay.count();
        EXPECT_EQ(due(wheel, kStart + delay + SlotTime::kWidth - 1ns), Values{9}) << delay.count();
        EXPECT_TRUE(wheel.empty());
    }
}

TEST(TimingWheel, EntriesOfOneSlotLeaveAsTheyCame) {
    Wheel wheel{8};
    for (std::uint32_t i = 0; i < 5; ++i) {
        ASSERT_TRUE(wheel.insert(i, kStart, kStart + 1ms));
    }
    EXPECT_EQ(due(wheel, kStart + 2ms, 3), (Values{0, 1, 2}));
    ASSERT_TRUE(wheel.insert(5, kStart + 2ms, kStart + 1ms));
    EXPECT_EQ(due(wheel, kStart + 2ms), (Values{3, 4, 5}));
}

TEST(TimingWheel, AFullOneTakesNoMoreUntilSomethingHasLeft) {
    Wheel wheel{2};
    EXPECT_TRUE(wheel.insert(1, kStart, kStart + 1s));
    EXPECT_TRUE(wheel.insert(2, kStart, kStart + 2s));
    EXPECT_FALSE(wheel.insert(3, kStart, kStart + 3s));
    EXPECT_EQ(due(wheel, kStart + 1s + 1ms), Values{1});
    EXPECT_TRUE(wheel.insert(4, kStart + 1s + 1ms, kStart + 1s + 500ms));
    EXPECT_EQ(due(wheel, kStart + 3s), (Values{4, 2}));
    Wheel none{0};
    EXPECT_FALSE(none.insert(1, kStart, kStart));
}

// After a standstill of hours everything is there, in order, and the wheel turns on.
TEST(TimingWheel, HoursLaterEverythingLeavesInOrder) {
    Wheel wheel{64};
    for (std::uint32_t i = 0; i < 60; ++i) {
        ASSERT_TRUE(wheel.insert(i, kStart, kStart + i * 1s));
    }
    const Values all = due(wheel, kStart + 5h);
    ASSERT_EQ(all.size(), 60U);
    EXPECT_TRUE(std::is_sorted(all.begin(), all.end()));
    ASSERT_TRUE(wheel.insert(1, kStart + 5h, kStart + 5h + 10ms));
    EXPECT_EQ(due(wheel, kStart + 5h + 9ms), Values{});
    EXPECT_EQ(due(wheel, kStart + 5h + 11ms), Values{1});
}

TEST(TimingWheel, WhatLiesBeyondTheHorizonLeavesAtIt) {
    Wheel wheel{4};
    ASSERT_TRUE(wheel.insert(1, kStart, kStart + 3h));
    EXPECT_EQ(due(wheel, kStart + Wheel::kHorizon - 1ms), Values{});
    EXPECT_EQ(due(wheel, kStart + Wheel::kHorizon + 1ms), Values{1});
}

// What comes behind a drain that was not finished is due when it says.
TEST(TimingWheel, ADrainTakesInOrderAndMovesNoInstant) {
    Wheel wheel{8};
    for (std::uint32_t i = 0; i < 4; ++i) {
        ASSERT_TRUE(wheel.insert(i, kStart, kStart + (4 - i) * 10s));
    }
    EXPECT_EQ(any(wheel, 2), (Values{3, 2}));
    ASSERT_TRUE(wheel.insert(7, kStart, kStart + 1ms));
    EXPECT_EQ(due(wheel, kStart + 2ms), Values{7});
    EXPECT_EQ(any(wheel), (Values{1, 0}));
    EXPECT_TRUE(wheel.empty());
    EXPECT_EQ(any(wheel), Values{});
}

// The model: a sorted list by the slot that an entry was due in, of equals as they came.
class Model {
public:
    explicit Model(std::size_t capacity) : capacity_{capacity} {}

    bool insert(std::uint32_t value, Instant now, Instant due) {
        if (sorted_.size() == capacity_) {
            return false;
        }
        looked_ = sorted_.empty() ? SlotTime::ended(now) : looked_;
        sorted_.emplace(std::max(SlotTime::of(due), looked_), std::pair{value, due});
        return true;
    }
    std::vector<std::pair<std::uint32_t, Instant>> take(Instant now, std::size_t most) {
        std::vector<std::pair<std::uint32_t, Instant>> out;
        while (out.size() < most && !sorted_.empty() &&
               sorted_.begin()->first <= SlotTime::ended(now)) {
            out.push_back(sorted_.begin()->second);
            sorted_.erase(sorted_.begin());
        }
        const std::uint64_t now_slot = SlotTime::ended(now);
        looked_ = std::max(looked_,
                           sorted_.empty() ? now_slot : std::min(now_slot, sorted_.begin()->first));
        return out;
    }

private:
    std::size_t capacity_;
    std::uint64_t looked_ = 0;
    std::multimap<std::uint64_t, std::pair<std::uint32_t, Instant>> sorted_;
};

struct Schedule {
    Nanoseconds longest_delay;
    Nanoseconds longest_step;
    unsigned inserts;  // between two looks, at most
};

void compare(const Schedule& schedule, unsigned seed) {
    constexpr std::uint32_t kCapacity = 500;
    std::mt19937_64 random{seed};
    const auto below = [&](Nanoseconds most) {
        return Nanoseconds{
            static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most.count() + 1))};
    };
    Wheel wheel{kCapacity};
    Model model{kCapacity};
    Instant now = kStart;
    std::uint32_t value = 0;
    for (unsigned look = 0; look < 3'000; ++look) {
        for (auto left = random() % (schedule.inserts + 1); left != 0; --left) {
            const Instant at = now + below(schedule.longest_delay);
            ASSERT_EQ(wheel.insert(value, now, at), model.insert(value, now, at));
            ++value;
        }
        now += below(schedule.longest_step);
        const std::size_t most = 1 + random() % 80;
        const auto expected = model.take(now, most);
        const Values got = due(wheel, now, most);
        ASSERT_EQ(got.size(), expected.size());
        for (std::size_t i = 0; i < got.size(); ++i) {
            ASSERT_EQ(got[i], expected[i].first);
            ASSERT_LE(expected[i].second, now) << "early";
        }
    }
}

TEST(TimingWheel, AgreesWithASortedList) {
    const std::array schedules{
        Schedule{100us, 20us, 40},  // many in a slot
        Schedule{1s, 10ms, 20},    Schedule{60s, 500ms, 12},
        Schedule{60s, 2s, 36},  // full now and then
        Schedule{0ns, 1us, 3},     Schedule{1ms, 900ms, 30},
    };
    for (unsigned seed = 0; seed < 12; ++seed) {
        compare(schedules[seed % schedules.size()], seed);
    }
}

// Of each key the instants never go back, as a bucket's never do: each key's order is kept, however
// keys and looks are mixed.
TEST(TimingWheel, KeepsTheOrderOfEachKey) {
    constexpr std::uint32_t kKeys = 7;
    std::mt19937_64 random{3};
    Wheel wheel{100'000};
    std::array<Instant, kKeys> latest;
    std::array<std::deque<std::uint32_t>, kKeys> waiting;
    latest.fill(kStart);
    Instant now = kStart;
    std::size_t left = 0;
    for (std::uint32_t i = 0; i < 60'000; ++i) {
        const auto key = static_cast<std::uint32_t>(random() % kKeys);
        latest[key] = std::min(
            std::max(latest[key], now) + Nanoseconds{static_cast<std::int64_t>(random() % 40'000)},
            now + 60s);
        ASSERT_TRUE(wheel.insert(i * kKeys + key, now, latest[key]));
        waiting[key].push_back(i * kKeys + key);
        now += Nanoseconds{static_cast<std::int64_t>(random() % 9'000)};
        for (const std::uint32_t value : due(wheel, now, random() % 4)) {
            std::deque<std::uint32_t>& queue = waiting[value % kKeys];
            ASSERT_EQ(queue.front(), value);
            queue.pop_front();
            ++left;
        }
    }
    for (const std::uint32_t value : any(wheel, 100'000)) {
        std::deque<std::uint32_t>& queue = waiting[value % kKeys];
        ASSERT_EQ(queue.front(), value);
        queue.pop_front();
        ++left;
    }
    EXPECT_EQ(left, 60'000U);
}

}  // namespace
}  // namespace sluice::timing_wheel_test
