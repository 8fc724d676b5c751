#include "lib/bucket/meter/color_meter.hpp"

#include <gtest/gtest.h>

#include <random>

namespace sluice::color_meter_test {
namespace {

using namespace std::chrono_literals;

// The RFCs' own words: counters of whole tokens, one more each tick. At the ticks, tokens that flow
// in evenly are the same.
struct RfcMeter {
    ColorVariant variant;
    ColorMode mode;
    std::uint64_t first_burst;   // CBS
    std::uint64_t second_burst;  // EBS or PBS
    std::uint64_t first = first_burst;
    std::uint64_t second = second_burst;

    // RFC 2697, section 3: "If Tc is less than CBS, Tc is incremented by one, else if Te is less
    // than EBS, Te is incremented by one".
    void tick_first() {
        if (first < first_burst) {
            ++first;
        } else if (variant == ColorVariant::Rfc2697 && second < second_burst) {
            ++second;
        }
    }
    void tick_second() {
        if (variant != ColorVariant::Rfc2697 && second < second_burst) {
            ++second;
        }
    }

    Color meter(std::uint64_t size, Color color) {
        const Color came = mode == ColorMode::Blind ? Color::Green : color;
        return variant == ColorVariant::Rfc2698 ? meter_2698(size, came) : meter_others(size, came);
    }

    // RFC 2697 and RFC 4115: green out of Tc, else yellow out of Te, else red.
    Color meter_others(std::uint64_t size, Color came) {
        if (came == Color::Green && first >= size) {
            first -= size;
            return Color::Green;
        }
        if (came != Color::Red && second >= size) {
            second -= size;
            return Color::Yellow;
        }
        return Color::Red;
    }

    // RFC 2698: "if the packet has been precolored as red or if Tp(t)-B < 0, the packet is red,
    // else if precolored as yellow or Tc(t)-B < 0, yellow and Tp is decremented by B, else green
    // and both Tp and Tc are decremented by B".
    Color meter_2698(std::uint64_t size, Color came) {
        if (came == Color::Red || second < size) {
            return Color::Red;
        }
        second -= size;
        if (came == Color::Yellow || first < size) {
            return Color::Yellow;
        }
        first -= size;
        return Color::Green;
    }
};

Limit per_second(std::uint64_t rate, std::uint64_t burst) {
    return *Limit::make({.units = Units{rate}, .period = 1s}, Units{burst}, LeastBurst::Zero);
}

struct Case {
    ColorVariant variant;
    std::uint64_t first_burst;
    std::uint64_t second_burst;
    int second_ticks;  // of the second rate in one of the first, which ticks each ms
};

const Case kCases[] = {
    {ColorVariant::Rfc2697, 1000, 3000, 1}, {ColorVariant::Rfc2697, 3000, 1000, 1},
    {ColorVariant::Rfc2697, 2000, 0, 1},    {ColorVariant::Rfc2697, 0, 2000, 1},
    {ColorVariant::Rfc2698, 1000, 3000, 2}, {ColorVariant::Rfc2698, 3000, 1000, 3},
    {ColorVariant::Rfc4115, 1000, 3000, 1}, {ColorVariant::Rfc4115, 3000, 1000, 4},
    {ColorVariant::Rfc4115, 0, 2000, 2},
};

constexpr std::uint64_t kRate = 1000;

TEST(ColorMeter, ColorsAsTheRfcsSayTickByTick) {
    for (const Case& c : kCases) {
        for (const ColorMode mode : {ColorMode::Blind, ColorMode::Aware}) {
            const auto ticks = static_cast<std::uint64_t>(c.second_ticks);
            const ColorLimit limit =
                *ColorLimit::make(c.variant, mode, per_second(kRate, c.first_burst),
                                  per_second(kRate * ticks, c.second_burst));
            RfcMeter rfc{c.variant, mode, c.first_burst, c.second_burst};
            ColorMeter meter;
            std::mt19937_64 random{17};
            std::array<int, 3> seen{};
            for (Instant now{1s}; now < Instant{21s}; now += 1ms) {
                rfc.tick_first();
                for (int i = 0; i < c.second_ticks; ++i) {
                    rfc.tick_second();
                }
                if (random() % 700 > 3) {
                    continue;
                }
                const Demand demand{Units{1 + random() % 1500}, static_cast<Color>(random() % 3)};
                const auto said = static_cast<Color>(meter.check(limit, now, demand));
                ASSERT_EQ(said, rfc.meter(demand.cost.count(), demand.color));
                if (said != Color::Red) {
                    meter.charge(limit, now, {demand.cost, static_cast<Conformance>(said)});
                }
                ++seen[static_cast<std::size_t>(said)];
            }
            EXPECT_GT(seen[0] + seen[1], 3);
        }
    }
}

TEST(ColorMeter, NothingIsSpentOnRed) {
    const ColorLimit limit = *ColorLimit::make(ColorVariant::Rfc2698, ColorMode::Aware,
                                               per_second(10, 5), per_second(20, 8));
    const ColorMeter meter;
    const Instant now{1s};
    EXPECT_EQ(meter.check(limit, now, {Units{1}, Color::Red}), Conformance::Red);
    EXPECT_EQ(meter.check(limit, now, {Units{9}}), Conformance::Red);
    EXPECT_EQ(meter.check(limit, now, {Units{6}}), Conformance::Yellow);
    EXPECT_EQ(meter.check(limit, now, {Units{5}}), Conformance::Green);
    EXPECT_EQ(meter.wait(limit, now, {Units{1}, Color::Red}), std::nullopt);
    EXPECT_EQ(meter.wait(limit, now, {Units{9}}), std::nullopt);
    EXPECT_EQ(meter.remaining(limit, now), Units{8});
}

// The second bucket of RFC 2697 fills only while the first is full.
TEST(ColorMeter, ExcessWaitsForTheCommittedBucket) {
    const ColorLimit limit = *ColorLimit::make(ColorVariant::Rfc2697, ColorMode::Aware,
                                               per_second(10, 10), per_second(10, 20));
    ColorMeter meter;
    const Instant now{1s};
    meter.charge(limit, now, {Units{10}, Conformance::Green});
    meter.charge(limit, now, {Units{20}, Conformance::Yellow});
    EXPECT_EQ(meter.remaining(limit, now), Units{0});
    EXPECT_EQ(meter.wait(limit, now, {Units{1}}), 100ms);
    EXPECT_EQ(meter.wait(limit, now, {Units{1}, Color::Yellow}), 1100ms);
    EXPECT_EQ(meter.wait(limit, now, {Units{15}}), 2500ms);
    EXPECT_EQ(meter.fresh_from(), now + 3s);
}

struct Left {
    std::uint64_t green;   // the largest cost that is green
    std::uint64_t yellow;  // the largest cost that is not red for a yellow packet

    [[nodiscard]] bool operator==(const Left&) const = default;
};

Left left(const ColorMeter& meter, const ColorLimit& limit, Instant now) {
    Left sums{0, 0};
    while (meter.check(limit, now, {Units{sums.green + 1}}) == Conformance::Green) {
        ++sums.green;
    }
    while (meter.check(limit, now, {Units{sums.yellow + 1}, Color::Yellow}) ==
           Conformance::Yellow) {
        ++sums.yellow;
    }
    return sums;
}

TEST(ColorMeter, NumbersChangeForEachBucketByItself) {
    struct Row {
        ColorVariant variant;
        std::uint64_t green, yellow;  // charged
        Left before, after;           // of 30 and 20, then of 15 and 50 at twice the rate
    };
    const Row rows[] = {
        {ColorVariant::Rfc2697, 5, 8, {25, 12}, {10, 42}},
        {ColorVariant::Rfc2697, 25, 20, {5, 0}, {0, 30}},
        {ColorVariant::Rfc4115, 5, 8, {25, 12}, {10, 42}},
        {ColorVariant::Rfc4115, 30, 0, {0, 20}, {0, 50}},
        {ColorVariant::Rfc2698, 5, 8, {7, 7}, {10, 37}},
    };
    for (const Row& row : rows) {
        const auto make = [&row](std::uint64_t rate, std::uint64_t first, std::uint64_t second) {
            return *ColorLimit::make(row.variant, ColorMode::Aware, per_second(rate, first),
                                     per_second(rate, second));
        };
        const ColorLimit from = make(10, 30, 20);
        const ColorLimit to = make(20, 15, 50);
        ColorMeter meter;
        const Instant now{1s};
        meter.charge(from, now, {Units{row.green}, Conformance::Green});
        meter.charge(from, now, {Units{row.yellow}, Conformance::Yellow});
        EXPECT_EQ(left(meter, from, now), row.before);
        meter.renumber(from, to, now);
        EXPECT_EQ(left(meter, to, now), row.after);
        meter.renumber(to, from, now);
        EXPECT_EQ(left(meter, from, now), row.before) << "restored";
    }
}

// Either bucket owes no more than its burst afterwards; of coupled ones, the second beyond the
// first.
TEST(ColorMeter, IsForgivenWhatEitherBucketOwesBeyondItsBurst) {
    for (const ColorVariant variant :
         {ColorVariant::Rfc2697, ColorVariant::Rfc2698, ColorVariant::Rfc4115}) {
        const auto make = [variant](std::uint64_t first, std::uint64_t second) {
            return *ColorLimit::make(variant, ColorMode::Aware, per_second(10, first),
                                     per_second(10, second));
        };
        const ColorLimit from = make(30, 40);
        const ColorLimit to = make(5, 8);
        ColorMeter meter;
        const Instant now{1s};
        meter.charge(from, now, {Units{30}, Conformance::Green});
        meter.charge(from, now, {Units{10}, Conformance::Yellow});
        meter.renumber(from, to, now);
        EXPECT_TRUE(meter.forgive_excess(to, now));
        EXPECT_FALSE(meter.forgive_excess(to, now));
        EXPECT_EQ(left(meter, to, now), (Left{0, 0}));
        meter.renumber(to, from, now);
        EXPECT_EQ(left(meter, from, now), (Left{25, 32}));
    }
}

TEST(ColorMeter, LeavesAtMostInEitherBucket) {
    for (const ColorVariant variant :
         {ColorVariant::Rfc2697, ColorVariant::Rfc2698, ColorVariant::Rfc4115}) {
        const ColorLimit limit =
            *ColorLimit::make(variant, ColorMode::Aware, per_second(10, 30), per_second(10, 20));
        ColorMeter meter;
        const Instant now{1s};
        meter.leave_at_most(limit, now, Units{25});
        EXPECT_EQ(left(meter, limit, now).yellow, 20U);
        meter.leave_at_most(limit, now, Units{7});
        EXPECT_EQ(left(meter, limit, now), (Left{7, 7}));
        EXPECT_EQ(meter.remaining(limit, now), Units{7});
        meter.leave_at_most(limit, now, Units{0});
        EXPECT_EQ(meter.remaining(limit, now), Units{0});
    }
}

}  // namespace
}  // namespace sluice::color_meter_test
