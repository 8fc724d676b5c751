#include "lib/match/packed_v6.hpp"

#include "tests/rounds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <span>
#include <vector>

namespace sluice::packed_v6_test {
namespace {

// The oracle: by key, the value from there on.
using StepMap = std::map<Wide, std::uint32_t>;

std::vector<Step<Wide>> sorted(const StepMap& steps) {
    std::vector<Step<Wide>> all;
    for (const auto& [first, row] : steps) {
        all.push_back({first, row});
    }
    return all;
}

std::uint32_t random_row(std::mt19937_64& random) {
    return static_cast<std::uint32_t>(random() % (PackedV6::kMaxValue + 1));
}

Wide random_key(std::mt19937_64& random) {
    return Wide{random()} << 64 | random();
}

// A prefix whose keys have the value; those behind it what they had.
void add_prefix(StepMap& steps, Wide key, unsigned length, std::uint32_t value) {
    const Wide others = length == 128 ? Wide{0} : ~Wide{0} >> length;
    const Wide first = key & ~others;
    const Wide last = key | others;
    const std::uint32_t around = std::prev(steps.upper_bound(last))->second;
    steps.erase(steps.lower_bound(first), steps.upper_bound(last));
    steps.emplace(first, value);
    if (last != ~Wide{0}) {
        steps.emplace(last + 1, around);
    }
}

void expect_values(const PackedV6& packed, const StepMap& steps, std::span<const Wide> keys) {
    std::array<std::uint32_t, PackedV6::kMaxKeys> values{};
    for (std::size_t from = 0; from < keys.size(); from += values.size()) {
        const auto some = keys.subspan(from, std::min(values.size(), keys.size() - from));
        packed.find_each(some, values.data());
        for (std::size_t i = 0; i < some.size(); ++i) {
            const std::uint32_t expected = std::prev(steps.upper_bound(some[i]))->second;
            ASSERT_EQ(values[i], expected) << "key " << from + i << " of " << keys.size();
            ASSERT_EQ(packed.find(some[i]), expected) << "key " << from + i;
        }
    }
    packed.find_each({}, nullptr);
}

// Every step, its neighbours, what is near it and what is anywhere; in no order.
void expect_agreement(const StepMap& steps, std::mt19937_64& random) {
    const std::vector<Step<Wide>> all = sorted(steps);
    const Result<PackedV6> packed = PackedV6::make(all);
    ASSERT_TRUE(packed.has_value());
    EXPECT_EQ(packed->bytes(), PackedV6::bytes_for(all));
    std::vector<Wide> keys{0, ~Wide{0}};
    for (const Step<Wide>& step : all) {
        const Wide near = random_key(random) >> (random() % 128);
        keys.insert(keys.end(), {step.first - 1, step.first, step.first + 1, step.first ^ near,
                                 random_key(random)});
    }
    std::shuffle(keys.begin(), keys.end(), random);
    expect_values(*packed, steps, keys);
}

TEST(PackedV6, FromOneStepInASlotToManyAgreesWithHalving) {
    std::mt19937_64 random{1};
    for (const unsigned fine : {0U, 20U, 51U, 60U, 64U}) {
        StepMap steps{{0, 7}, {~Wide{0}, 9}};
        for (std::size_t slot = 0; slot < 300; ++slot) {
            const Wide begin = Wide{slot * 3 + 1} << 112;
            for (std::size_t i = 0; i < slot % 75; ++i) {
                const Wide inside = random_key(random) >> 16 >> fine << fine;
                steps.emplace(begin | inside, random_row(random));
            }
        }
        expect_agreement(steps, random);
    }
}

TEST(PackedV6, AListAsFeedsAreAgrees) {
    std::mt19937_64 random{2};
    constexpr std::array<unsigned, 9> kLengths{48, 48, 64, 64, 32, 40, 56, 127, 128};
    StepMap steps{{0, 0}};
    for (int i = 0; i < test::rounds(100'000); ++i) {
        const Wide key = Wide{1} << 125 | random_key(random) >> 3;
        add_prefix(steps, key, kLengths[random() % kLengths.size()], 1 + random_row(random) % 3);
    }
    expect_agreement(steps, random);
}

// Steps of prefixes within a few networks, whose keys share so many bits.
StepMap clustered(std::size_t networks, unsigned shared, std::mt19937_64& random) {
    std::vector<Wide> within(networks);
    std::generate(within.begin(), within.end(), [&] { return random_key(random); });
    StepMap steps{{0, 0}};
    for (int i = 0; i < 3000; ++i) {
        const Wide key = within[random() % networks] ^ random_key(random) >> shared;
        const auto length = shared + static_cast<unsigned>(random() % (129 - shared));
        add_prefix(steps, key, length, random_row(random));
    }
    return steps;
}

// So slots of the root have tables, and those of these again.
TEST(PackedV6, ListsWithinFewNetworksAgree) {
    std::mt19937_64 random{3};
    for (const std::size_t networks : {1U, 3U}) {
        for (const unsigned shared : {12U, 40U, 64U, 70U, 100U, 120U}) {
            expect_agreement(clustered(networks, shared, random), random);
        }
    }
}

TEST(PackedV6, SingleAddressesFarApartAndSideBySideAgree) {
    std::mt19937_64 random{4};
    StepMap steps{{0, 0}};
    for (int i = 0; i < test::rounds(20'000); ++i) {
        const Wide key = random_key(random);
        add_prefix(steps, key, 128, random_row(random));
        add_prefix(steps, key + random() % 3, 128, random_row(random));
        add_prefix(steps, key ^ random() % 1000, 128, random_row(random));
    }
    add_prefix(steps, 0, 128, 5);
    add_prefix(steps, ~Wide{0}, 128, 6);
    expect_agreement(steps, random);
}

// Next to a bound of the bits that records compare, at the ends of slots, and on both sides.
TEST(PackedV6, StepsFinerThanARecordTellsAgreeAtItsBounds) {
    std::mt19937_64 random{5};
    for (int round = 0; round < test::rounds(300); ++round) {
        StepMap steps{{0, 0}, {Wide{1} << 127, 3}, {Wide{0xFFFF} << 112, 4}};
        for (int i = 0; i < 8; ++i) {
            const Wide bound = random_key(random) >> 56 << 56;
            const Wide at = (random() % 4 == 0 ? bound >> 112 << 112 : bound) - random() % 3;
            for (std::size_t count = 1 + random() % 4; count > 0; --count) {
                steps.emplace(at + random() % 5, random_row(random));
            }
        }
        expect_agreement(steps, random);
    }
}

TEST(PackedV6, ListsOfNothingAndOfTheEndsOfAllKeysAgree) {
    std::mt19937_64 random{6};
    expect_agreement({{0, 0}}, random);
    expect_agreement({{0, PackedV6::kMaxValue}}, random);
    expect_agreement({{0, 1}, {~Wide{0}, 2}}, random);
    expect_agreement({{0, 1}, {1, 2}}, random);
    expect_agreement({{0, 1}, {1, 2}, {~Wide{0}, 3}}, random);
}

TEST(PackedV6, TooManyRowsOrBytesAreRefused) {
    const std::vector<Step<Wide>> many_rows{{0, 0}, {7, PackedV6::kMaxValue + 1}};
    EXPECT_EQ(PackedV6::make(many_rows).error().code, Errc::TooMany);
    EXPECT_GT(PackedV6::bytes_for(many_rows), PackedV6::kMostBytes);
    std::vector<Step<Wide>> steps{{0, 0}};
    for (std::uint32_t i = 1; i < 10'000; ++i) {
        steps.push_back({Wide{i} << 110, i % 2});
    }
    const std::size_t bytes = PackedV6::bytes_for(steps);
    EXPECT_EQ(PackedV6::make(steps, bytes - 1).error().code, Errc::TooMany);
    EXPECT_TRUE(PackedV6::make(steps, bytes).has_value());
}

}  // namespace
}  // namespace sluice::packed_v6_test
