#include "lib/heavy_hitters/key_sampler.hpp"

#include <gtest/gtest.h>

#include <array>

namespace sluice::key_sampler_test {
namespace {

using namespace std::chrono_literals;

// What a pick stands for adds up to the packets that came, each place in a burst is picked, and
// the mean gap is what it says.
TEST(KeySampler, StandsForAllPackets) {
    KeySampler sampler{42};
    std::array<int, 32> places{};
    Instant now{1h};
    std::uint64_t packets = 0;
    std::uint64_t weight = 0;
    int picks = 0;
    while (now < Instant{1h + 20s}) {
        now += 10us;
        packets += 32;
        if (sampler.is_due(32, now)) {
            const KeySampler::Pick pick = sampler.pick(32, now);
            ASSERT_LT(pick.packet, 32U);
            ++places[pick.packet];
            weight += pick.weight;
            ++picks;
        }
    }
    EXPECT_LE(packets - weight, 32U * 50);
    EXPECT_NEAR(picks, 20s / KeySampler::kMeanGap, 20s / KeySampler::kMeanGap / 10);
    for (const int count : places) {
        EXPECT_NEAR(count, picks / 32, picks / 100);
    }
}

TEST(KeySampler, WantsNothingWithoutPackets) {
    KeySampler sampler{42};
    EXPECT_FALSE(sampler.is_due(0, Instant{1h}));
    EXPECT_TRUE(sampler.is_due(1, Instant{1h}));
    EXPECT_EQ(sampler.pick(1, Instant{1h}).weight, 1U);
}

// Two workers do not look at the same instants.
TEST(KeySampler, DrawsByItsSeed) {
    KeySampler one{1};
    KeySampler other{3};
    int both = 0;
    int either = 0;
    for (Instant now{1h}; now < Instant{1h + 1s}; now += 10us) {
        const bool a = one.is_due(1, now);
        const bool b = other.is_due(1, now);
        if (a) {
            (void)one.pick(1, now);
        }
        if (b) {
            (void)other.pick(1, now);
        }
        both += a && b ? 1 : 0;
        either += a || b ? 1 : 0;
    }
    EXPECT_LT(both, either / 4);
}

TEST(KeySampler, CountsWhatNobodyReads) {
    KeySampler sampler{42};
    for (std::size_t i = 0; i < KeySampler::kRingSize; ++i) {
        ASSERT_NE(sampler.next(), nullptr);
        sampler.commit();
    }
    EXPECT_EQ(sampler.next(), nullptr);
    EXPECT_EQ(sampler.lost(), 1U);
    std::size_t read = 0;
    sampler.ring().drain([&](const KeySample&) { ++read; });
    EXPECT_EQ(read, KeySampler::kRingSize);
    EXPECT_NE(sampler.next(), nullptr);
}

}  // namespace
}  // namespace sluice::key_sampler_test
