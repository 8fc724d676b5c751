#include "lib/watch/top/key_sampler.hpp"

#include <gtest/gtest.h>

#include <array>

namespace sluice::key_sampler_test {
namespace {

using namespace std::chrono_literals;

// What picks stand for adds up to the packets that came, each place in a burst is picked, and the
// mean gap is what it says.
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
            if (pick.weight != 0) {
                ++places[pick.packet];
                weight += pick.weight;
                ++picks;
            }
        }
    }
    EXPECT_NEAR(static_cast<double>(weight), static_cast<double>(packets),
                static_cast<double>(packets) / 50);
    EXPECT_NEAR(picks, 20s / KeySampler::kMeanGap, 20s / KeySampler::kMeanGap / 10);
    for (const int count : places) {
        EXPECT_NEAR(count, picks / 32, picks / 100);
    }
}

// Traffic that begins at once, at full speed, costs no more than its first bursts.
TEST(KeySampler, IsSoonInLineWithAFlood) {
    KeySampler sampler{42};
    Instant now{1h};
    int picks = 0;
    std::uint64_t weight = 0;
    for (int burst = 0; burst < 10'000; ++burst) {
        now += 3us;
        if (sampler.is_due(32, now)) {
            const KeySampler::Pick pick = sampler.pick(32, now);
            weight += pick.weight;
            picks += pick.weight == 0 ? 0 : 1;
        }
    }
    EXPECT_LT(picks, 250);  // of 30 ms, and some at the beginning
    EXPECT_NEAR(static_cast<double>(weight), 320'000, 100'000);
}

// And what comes behind one, slowly, is all looked at once its last millisecond is over.
TEST(KeySampler, LooksAtEveryPacketOfSlowTraffic) {
    KeySampler sampler{42};
    Instant now{1h};
    for (int burst = 0; burst < 10'000; ++burst) {
        if (sampler.is_due(32, now += 3us)) {
            (void)sampler.pick(32, now);
        }
    }
    if (sampler.is_due(1, now += 10ms)) {
        (void)sampler.pick(1, now);
    }
    for (int packet = 0; packet < 100; ++packet) {
        ASSERT_TRUE(sampler.is_due(1, now += 10ms));
        EXPECT_EQ(sampler.pick(1, now).weight, 1U);
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
        const bool a = one.is_due(1, now) && one.pick(1, now).weight != 0;
        const bool b = other.is_due(1, now) && other.pick(1, now).weight != 0;
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
