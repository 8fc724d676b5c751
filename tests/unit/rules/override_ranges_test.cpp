#include "lib/rules/override_ranges.hpp"

#include "lib/rules/group.hpp"
#include "lib/rules/network_bans.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

namespace sluice::override_ranges_test {
namespace {

// Canonical bytes of a key of one address.
std::vector<std::byte> key_of(std::uint8_t version, Wide address) {
    const std::uint8_t size = version == 4 ? 4 : 16;
    const KeyPartHeader header{3, version, static_cast<std::uint8_t>(8 * size), size};
    std::vector<std::byte> bytes(sizeof(header) + size);
    std::memcpy(bytes.data(), &header, sizeof(header));
    for (std::size_t at = bytes.size(); at-- > sizeof(header); address >>= 8) {
        bytes[at] = static_cast<std::byte>(address & 0xFF);
    }
    return bytes;
}

Overrides exempt_plans(std::size_t count) {
    Overrides all;
    for (std::size_t i = 0; i < count; ++i) {
        all.plans.push_back({.exempt = true});
    }
    return all;
}

using Ranges = std::vector<OverrideRange>;

bool are_sound(const Ranges& ranges) {
    return are_sound_ranges(ranges, exempt_plans(100));
}

TEST(OverrideRanges, OfRangesThatOverlapOneHoldsTheOther) {
    EXPECT_TRUE(are_sound({}));
    EXPECT_TRUE(are_sound({{10, 20, 0, 4}, {10, 12, 1, 4}, {14, 20, 2, 4}, {5, 9, 3, 6}}));
    EXPECT_FALSE(are_sound({{10, 20, 0, 4}, {15, 21, 1, 4}}));
    EXPECT_FALSE(are_sound({{10, 20, 0, 4}, {10, 20, 1, 4}}));
    EXPECT_FALSE(are_sound({{10, 12, 0, 4}, {10, 20, 1, 4}}));
    EXPECT_FALSE(are_sound({{30, 40, 0, 4}, {10, 20, 1, 4}}));
    EXPECT_FALSE(are_sound({{5, 9, 3, 6}, {10, 20, 0, 4}}));
    EXPECT_FALSE(are_sound({{20, 10, 0, 4}}));
    EXPECT_FALSE(are_sound({{10, 20, 100, 4}}));
    EXPECT_FALSE(are_sound({{10, 20, 0, 5}}));
    EXPECT_FALSE(are_sound({{10, Wide{1} << 32, 0, 4}}));
    EXPECT_TRUE(are_sound({{0, (Wide{1} << 32) - 1, 0, 4}, {0, ~Wide{0}, 0, 6}}));
    Overrides banned;
    banned.plans.push_back({.banned = true});
    EXPECT_FALSE(are_sound_ranges(Ranges{{10, 20, 0, 4}}, banned));
}

TEST(OverrideRanges, FewLieInOneAnother) {
    Ranges ranges;
    for (std::uint32_t i = 0; i < kMaxNestedRanges; ++i) {
        ranges.push_back({i, 1000 - i, i, 4});
    }
    EXPECT_TRUE(are_sound(ranges));
    ranges.push_back({100, 101, 99, 4});
    EXPECT_FALSE(are_sound(ranges));
}

TEST(OverrideRanges, WhatIsAroundAKeyFromTheSmallestOn) {
    const Overrides all = exempt_plans(4);
    const Ranges ranges{{0, 0xFFFF'FFFF, 0, 4}, {10, 20, 1, 4}, {10, 12, 2, 4}, {15, 15, 3, 4}};
    const OverrideRanges table{ranges, all, {1, 2}};
    const auto plans = [&](Wide address) {
        std::vector<std::uint32_t> found;
        for (const auto* level = table.around(key_of(4, address)); level != nullptr;
             level = table.wider_than(*level)) {
            found.push_back(level->plan);
        }
        return found;
    };
    using Plans = std::vector<std::uint32_t>;
    EXPECT_EQ(plans(9), Plans{0});
    EXPECT_EQ(plans(10), (Plans{2, 1, 0}));
    EXPECT_EQ(plans(12), (Plans{2, 1, 0}));
    EXPECT_EQ(plans(13), (Plans{1, 0}));
    EXPECT_EQ(plans(15), (Plans{3, 1, 0}));
    EXPECT_EQ(plans(21), Plans{0});
    EXPECT_EQ(plans(0xFFFF'FFFF), Plans{0});
    EXPECT_EQ(table.around(key_of(6, 10)), nullptr);
    EXPECT_EQ(table.around({}), nullptr);
    EXPECT_EQ(table.around(key_of(4, 15))->addresses_but_one, Wide{0});
    const OverrideRanges other{Ranges(ranges.begin(), ranges.end() - 1), all, {1, 2}};
    EXPECT_NE(table.name(), other.name());
}

// The most that a rule may have, by few plans: memory stays within its bound, and it is made at
// once.
TEST(OverrideRanges, AMillionNetworksWithFewPlansTakeLittle) {
    const Overrides all = exempt_plans(5);
    Ranges ranges;
    for (std::uint32_t i = 0; i < 1'000'000; ++i) {
        ranges.push_back({Wide{i} << 10, (Wide{i} << 10) + 255, i % 5, 4});
    }
    const OverrideRanges table{ranges, all, {1, 2}};
    EXPECT_LT(table.bytes(), std::size_t{64} << 20);
    EXPECT_EQ(table.around(key_of(4, (Wide{777'777} << 10) + 255))->plan, 777'777U % 5);
    EXPECT_EQ(table.around(key_of(4, (Wide{777'777} << 10) + 256)), nullptr);
}

// Ten thousand networks and ranges beside a look-up that goes over all of them.
class Random {
public:
    Random(std::uint64_t seed, std::uint8_t version) : random_{seed}, version_{version} {
        divide(0, addresses_but_one(version, 0), 0);
        std::sort(ranges_.begin(), ranges_.end(), [](const auto& a, const auto& b) {
            return a.first != b.first ? a.first < b.first : a.last > b.last;
        });
    }
    [[nodiscard]] const Ranges& ranges() const { return ranges_; }
    [[nodiscard]] Wide number(Wide most) {
        const Wide any = Wide{random_()} << 64 | random_();
        return most == ~Wide{0} ? any : any % (most + 1);
    }

private:
    // Ranges between two addresses, and within these others.
    void divide(Wide first, Wide last, unsigned depth) {
        for (Wide at = first; ranges_.size() < 10'000 && at <= last;) {
            const Wide begin = at + number((last - at) / (depth == 0 ? 500 : 3));
            const Wide end = begin + number((last - begin) / (depth == 0 ? 200 : 2));
            if (depth != 0 && begin == first && end == last) {
                return;
            }
            ranges_.push_back({begin, end, static_cast<std::uint32_t>(random_() % 90), version_});
            if (depth < 12 && random_() % 2 == 0) {
                divide(begin, end, depth + 1);
            }
            if (end == last) {
                return;
            }
            at = end + 1;
        }
    }

    std::mt19937_64 random_;
    std::uint8_t version_;
    Ranges ranges_{};
};

TEST(OverrideRanges, AgreeWithALookUpThatGoesOverAll) {
    const Overrides all = exempt_plans(90);
    for (const std::uint8_t version : {std::uint8_t{4}, std::uint8_t{6}}) {
        Random random{version, version};
        const Ranges& ranges = random.ranges();
        ASSERT_GT(ranges.size(), 5'000U);
        ASSERT_TRUE(are_sound_ranges(ranges, all));
        const OverrideRanges table{ranges, all, {1, 2}};
        std::size_t inside = 0;
        for (int i = 0; i < 4'000; ++i) {
            const OverrideRange& near = ranges[static_cast<std::size_t>(i) % ranges.size()];
            const Wide sought = i % 4 == 0   ? random.number(addresses_but_one(version, 0))
                                : i % 4 == 1 ? near.first
                                : i % 4 == 2 ? near.last
                                             : near.first - (near.first != 0 ? 1 : 0);
            const OverrideRange* smallest = nullptr;
            for (const OverrideRange& range : ranges) {
                const bool holds = range.first <= sought && sought <= range.last;
                if (holds && (smallest == nullptr ||
                              range.last - range.first < smallest->last - smallest->first)) {
                    smallest = &range;
                }
            }
            const auto* level = table.around(key_of(version, sought));
            ASSERT_EQ(level == nullptr, smallest == nullptr) << i;
            if (level != nullptr) {
                ++inside;
                ASSERT_EQ(level->plan, smallest->plan) << i;
                ASSERT_EQ(level->addresses_but_one, smallest->last - smallest->first) << i;
            }
        }
        EXPECT_GT(inside, 1'000U);
    }
}

}  // namespace
}  // namespace sluice::override_ranges_test
