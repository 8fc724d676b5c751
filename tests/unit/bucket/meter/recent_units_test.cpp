#include "lib/bucket/meter/any_meter.hpp"
#include "lib/bucket/meter/sliding_counters.hpp"
#include "lib/bucket/meter/sliding_log.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

// What sliding counters and a sliding log do with the pool: memory follows use, and what check()
// has admitted can be charged.
namespace sluice::recent_units_test {
namespace {

using namespace std::chrono_literals;

constexpr Instant kStart{100s};

AnyLimit log(std::uint64_t count) {
    return SlidingLogLimit{*make_window_numbers(Units{count}, 1s)};
}
AnyLimit counters(std::uint64_t count) {
    return *make_sliding_counters(*make_window_numbers(Units{count}, 1s), 60, Edge::Strict);
}

struct Bucket {
    const AnyLimit& limit;
    LinePool& pool;
    Cell cell;

    Bucket(const AnyLimit& numbers, LinePool& lines) : limit{numbers}, pool{lines} {
        EXPECT_TRUE(open_bucket(cell, limit, pool, {}, {kStart}));
    }
    Conformance take(Instant now, std::uint64_t cost) {
        const Conformance said = check(cell, limit, pool, {now}, {Units{cost}});
        if (said == Conformance::Green) {
            charge(cell, limit, pool, {now}, {Units{cost}});
        }
        return said;
    }
    [[nodiscard]] std::uint64_t left(Instant now) const {
        return remaining(cell, limit, pool, {now}).count();
    }
};

TEST(RecentUnits, ManyUnitsOfOneInstantTakeOneLine) {
    LinePool pool{10};
    for (const AnyLimit& limit : {log(1'000'000), counters(1'000'000)}) {
        Bucket bucket{limit, pool};
        for (int i = 0; i < 10'000; ++i) {
            ASSERT_EQ(bucket.take(kStart, 100), Conformance::Green);
        }
        EXPECT_EQ(pool.free(), 9U);
        EXPECT_EQ(bucket.take(kStart, 1), Conformance::Red);
        close_bucket(bucket.cell, limit, pool);
    }
}

TEST(RecentUnits, ABusyKeyOfSixtySubWindowsTakesFourteenLines) {
    LinePool pool{100};
    const AnyLimit limit = counters(1'000'000);
    Bucket bucket{limit, pool};
    for (Instant now = kStart; now < kStart + 5s; now += 1ms) {
        ASSERT_EQ(bucket.take(now, 1), Conformance::Green);
        ASSERT_LE(pool.size() - pool.free(), 1U + 13U + 1U);
    }
    // What is idle gives its lines back when it is next looked at.
    ASSERT_EQ(bucket.take(kStart + 10s, 1), Conformance::Green);
    EXPECT_LE(pool.size() - pool.free(), 2U);
    close_bucket(bucket.cell, limit, pool);
    EXPECT_EQ(pool.free(), pool.size());
}

TEST(RecentUnits, WithoutALineThereIsNoRoomAndNothingIsAdmitted) {
    LinePool pool{2};
    const AnyLimit limit = log(100);
    Bucket bucket{limit, pool};
    // The newest instant and three earlier ones.
    for (int i = 0; i < 4; ++i) {
        ASSERT_EQ(bucket.take(kStart + Nanoseconds{i}, 1), Conformance::Green);
    }
    EXPECT_EQ(bucket.take(kStart + 4ns, 1), Conformance::NoRoom);
    EXPECT_EQ(bucket.left(kStart + 4ns), 96U);
    EXPECT_EQ(bucket.take(kStart + 3ns, 1), Conformance::Green);
    EXPECT_EQ(bucket.take(kStart + 1s, 1), Conformance::NoRoom);
    EXPECT_EQ(bucket.take(kStart + 1s + 2ns, 1), Conformance::Green);
    EXPECT_EQ(bucket.take(kStart + 1s + 2ns, 1000), Conformance::Red);
}

TEST(RecentUnits, APoolThatIsFullOpensNoBucket) {
    LinePool pool{1};
    const AnyLimit limit = log(100);
    Bucket bucket{limit, pool};
    for (const AnyLimit& other :
         {log(1), counters(1), AnyLimit{SlidingWindowLimit{*make_window_numbers(Units{1}, 1s)}}}) {
        Cell cell;
        EXPECT_FALSE(open_bucket(cell, other, pool, {}, {kStart}));
        close_bucket(cell, other, pool);
    }
    EXPECT_EQ(pool.free(), 0U);
    Cell cell;
    EXPECT_TRUE(open_bucket(
        cell, TokenBucketLimit{*Limit::make({.units = Units{1}, .period = 1s}, Units{1})}, pool, {},
        {kStart}));
}

// Others take all that is left between the look and the charge.
TEST(RecentUnits, WhatLookAdmittedIsChargedWhateverOthersTake) {
    LinePool pool{8};
    const AnyLimit limit = log(100);
    Bucket bucket{limit, pool};
    ASSERT_EQ(bucket.take(kStart, 1), Conformance::Green);
    const Now now{kStart + 1ns};
    ASSERT_EQ(check(bucket.cell, limit, pool, now, {Units{1}}), Conformance::Green);
    while (pool.take() != kNoLine) {
    }
    charge(bucket.cell, limit, pool, now, {Units{1}});
    EXPECT_EQ(bucket.left(kStart + 1ns), 98U);
    EXPECT_EQ(bucket.left(kStart + 1s), 99U);
    EXPECT_EQ(bucket.left(kStart + 1s + 1ns), 100U);
}

// What must be charged is charged, without a line for it: it then leaves later, never earlier.
TEST(RecentUnits, AChargeWithoutRoomLastsLonger) {
    LinePool pool{1};
    const AnyLimit limit = log(100);
    Bucket bucket{limit, pool};
    charge(bucket.cell, limit, pool, {kStart}, {Units{30}, Conformance::Red});
    charge(bucket.cell, limit, pool, {kStart + 500ms}, {Units{20}, Conformance::Red});
    EXPECT_EQ(bucket.left(kStart + 500ms), 50U);
    EXPECT_EQ(bucket.left(kStart + 1499ms), 50U);
    EXPECT_EQ(bucket.left(kStart + 1500ms), 100U);
}

// All of them go on to count, each until it leaves.
TEST(RecentUnits, FewerUnitsThanWereUsed) {
    LinePool pool{100};
    for (const auto make : {log, counters}) {
        const AnyLimit before = make(100);
        const AnyLimit after = make(25);
        Bucket bucket{before, pool};
        for (int i = 0; i < 9; ++i) {
            ASSERT_EQ(bucket.take(kStart + i * 50ms, 10), Conformance::Green);
        }
        const Instant now = kStart + 450ms;
        renumber(bucket.cell, before, after, pool, {now});
        EXPECT_EQ(remaining(bucket.cell, after, pool, {now}), Units{0});
        EXPECT_EQ(remaining(bucket.cell, after, pool, {kStart + 1320ms}), Units{5});
        EXPECT_EQ(remaining(bucket.cell, after, pool, {kStart + 1370ms}), Units{15});
        renumber(bucket.cell, after, before, pool, {now});
        EXPECT_EQ(remaining(bucket.cell, before, pool, {now}), Units{10});
        close_bucket(bucket.cell, after, pool);
    }
    EXPECT_EQ(pool.free(), pool.size());
}

// A hundred thousand instants leave while nobody looks: the look after that drops but a few of
// them, and still knows exactly what fits.
TEST(RecentUnits, NoLookHasMuchToDrop) {
    LinePool pool{60'000};
    const AnyLimit limit = log(100'000);
    Bucket bucket{limit, pool};
    for (int i = 0; i < 100'000; ++i) {
        ASSERT_EQ(bucket.take(kStart + Nanoseconds{i}, 1), Conformance::Green);
    }
    const Instant half_left = kStart + 1s + 49'999ns;
    const std::size_t free = pool.free();
    EXPECT_EQ(check(bucket.cell, limit, pool, {half_left}, {Units{1}}), Conformance::Green);
    EXPECT_EQ(check(bucket.cell, limit, pool, {half_left}, {Units{100'001}}), Conformance::Red);
    EXPECT_LE(pool.free() - free, 8U);
    EXPECT_EQ(bucket.left(half_left), 50'000U);
    EXPECT_EQ(check(bucket.cell, limit, pool, {half_left}, {Units{50'001}}), Conformance::Red);
    EXPECT_EQ(bucket.take(half_left, 50'000), Conformance::Green);
    EXPECT_EQ(bucket.take(half_left, 1), Conformance::Red);
    EXPECT_EQ(bucket.take(half_left + 1ns, 1), Conformance::Green);
    EXPECT_EQ(bucket.take(half_left + 2s, 100'000), Conformance::Green);
    EXPECT_EQ(pool.size() - pool.free(), 1U);
}

// Of a count that was lowered all that has left is dropped by the first look, and never twice.
TEST(RecentUnits, ALoweredCountAdmitsAsSoonAsEnoughHasLeft) {
    LinePool pool{60'000};
    const AnyLimit before = log(100'000);
    const AnyLimit after = log(10);
    Bucket bucket{before, pool};
    for (int i = 0; i < 100'000; ++i) {
        ASSERT_EQ(bucket.take(kStart + Nanoseconds{i}, 1), Conformance::Green);
    }
    renumber(bucket.cell, before, after, pool, {kStart + 1ms});
    const auto judge = [&](Instant now) {
        return check(bucket.cell, after, pool, {now}, {Units{1}});
    };
    EXPECT_EQ(wait(bucket.cell, after, pool, {kStart + 1ms}, {Units{1}}), 999ms + 99'990ns);
    EXPECT_EQ(judge(kStart + 1s + 99'989ns), Conformance::Red);
    EXPECT_EQ(judge(kStart + 1s + 99'990ns), Conformance::Green);
    EXPECT_LE(pool.size() - pool.free(), 10U);
}

// All of it lies in the newest record, which counts whole once the number is restored.
TEST(RecentUnits, FewerUnitsThanTheNewestRecordHolds) {
    LinePool pool{100};
    for (const auto make : {log, counters}) {
        const AnyLimit before = make(100);
        const AnyLimit after = make(25);
        Bucket bucket{before, pool};
        ASSERT_EQ(bucket.take(kStart, 80), Conformance::Green);
        renumber(bucket.cell, before, after, pool, {kStart});
        renumber(bucket.cell, after, before, pool, {kStart});
        ASSERT_EQ(bucket.take(kStart + 500ms, 5), Conformance::Green);
        EXPECT_EQ(bucket.left(kStart + 500ms), 15U);
        EXPECT_EQ(bucket.left(kStart + 1100ms), 95U);
        EXPECT_EQ(bucket.take(kStart + 1100ms, 95), Conformance::Green);
        EXPECT_EQ(bucket.left(kStart + 1100ms), 0U);
        close_bucket(bucket.cell, after, pool);
    }
}

// What is charged when the clock has stepped back leaves with the newest, not before it.
TEST(RecentUnits, AChargeBeforeTheNewestLeavesWithIt) {
    LinePool pool{100};
    const AnyLimit limit = log(100);
    Bucket bucket{limit, pool};
    ASSERT_EQ(bucket.take(kStart + 10ns, 1), Conformance::Green);
    ASSERT_EQ(bucket.take(kStart, 1), Conformance::Green);
    EXPECT_EQ(bucket.left(kStart + 1s + 9ns), 98U);
    EXPECT_EQ(bucket.left(kStart + 1s + 10ns), 100U);
}

// Slots are compared as numbers where instants would be: of windows that the sub-windows do not
// divide evenly, too, and at the very edges.
template <typename Slots>
void expect_same_end(const Slots& slots, Instant now, std::uint64_t back) {
    const std::uint64_t current = slots.of(now);
    const std::uint64_t slot = current - std::min(current, back);
    const Instant leaves = slots.leaves(slot);
    EXPECT_EQ(slots.has_left(slot, current), leaves <= now);
    EXPECT_TRUE(slots.has_left(slot, slots.of(leaves)));
    EXPECT_FALSE(slots.has_left(slot, slots.of(leaves - 1ns)));
}

TEST(RecentUnits, ASlotHasLeftFromTheInstantThatItLeaves) {
    std::mt19937_64 random{5};
    for (int i = 0; i < 100'000 && !HasFailure(); ++i) {
        const Nanoseconds window{1'000 + static_cast<std::int64_t>(random() % 20'000'000'000)};
        const auto buckets = static_cast<std::uint32_t>(1 + random() % 120);
        const WindowNumbers numbers{9, window.count()};
        const Instant now{Nanoseconds{static_cast<std::int64_t>(random() % (1ULL << 60U))}};
        const Edge edge = random() % 2 == 0 ? Edge::Strict : Edge::Lenient;
        const SlidingCountersLimit counted{numbers, buckets, edge};
        expect_same_end(SubWindowSlots{counted}, now, random() % 200);
        expect_same_end(LogSlots{SlidingLogLimit{numbers}}, now, random() % 40'000'000'000);
    }
}

}  // namespace
}  // namespace sluice::recent_units_test
