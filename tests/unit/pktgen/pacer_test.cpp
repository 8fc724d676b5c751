#include "tests/pktgen/pacer.hpp"

#include <gtest/gtest.h>

namespace sluice::pktgen::pacer_test {
namespace {

constexpr std::uint64_t kHz = 2'499'998'721;  // no round number

std::uint64_t send_all_due(Pacer& pacer, std::uint64_t now, std::uint64_t units = 1) {
    std::uint64_t sent = 0;
    for (pacer.advance(now); pacer.is_due(); ++sent) {
        pacer.spend(units);
    }
    return sent;
}

TEST(Pacer, SendsTheFirstAtOnceAndEachFurtherOneInItsTime) {
    Pacer pacer{{.units_per_second = 1000, .ticks_per_second = 1'000'000, .backlog = 10}, 5};
    EXPECT_EQ(send_all_due(pacer, 5), 1U);
    EXPECT_EQ(send_all_due(pacer, 1004), 0U);
    EXPECT_EQ(send_all_due(pacer, 1005), 1U);
    EXPECT_EQ(send_all_due(pacer, 2004), 0U);
}

TEST(Pacer, HoldsARateToTheFrameOverHours) {
    constexpr std::uint64_t kRate = 14'880'952;
    Pacer pacer{{.units_per_second = kRate, .ticks_per_second = kHz, .backlog = UINT64_MAX}, 77};
    const std::uint64_t hours = 10 * 3600;
    pacer.advance(77 + hours * kHz);
    pacer.spend(hours * kRate);
    EXPECT_TRUE(pacer.is_due());  // the first of the next second
    pacer.spend(1);
    EXPECT_FALSE(pacer.is_due());
    pacer.advance(77 + hours * kHz + kHz - 1);
    pacer.spend(kRate - 1);
    EXPECT_FALSE(pacer.is_due());
    EXPECT_EQ(pacer.skipped(), 0U);
}

TEST(Pacer, LooksAtTimesThatAreNoMultiplesLoseNothing) {
    Pacer pacer{{.units_per_second = 999'983, .ticks_per_second = kHz, .backlog = 1000}, 0};
    std::uint64_t sent = 0;
    for (std::uint64_t now = 0; now <= 3 * kHz; now += 1'000'003) {
        sent += send_all_due(pacer, now);
    }
    sent += send_all_due(pacer, 3 * kHz);
    EXPECT_EQ(sent, 3 * 999'983U + 1);
}

TEST(Pacer, CountsWhatAPausePutsOffForGood) {
    Pacer pacer{{.units_per_second = 1000, .ticks_per_second = 1000, .backlog = 32}, 0};
    EXPECT_EQ(send_all_due(pacer, 0), 1U);
    EXPECT_EQ(send_all_due(pacer, 500), 33U);  // the backlog, and the one of this instant
    EXPECT_EQ(pacer.skipped(), 467U);
    EXPECT_EQ(send_all_due(pacer, 501), 1U);
    EXPECT_EQ(pacer.spent() + pacer.skipped(), 502U);
}

TEST(Pacer, SpendsBitsOfFramesOfDifferentSizes) {
    constexpr std::uint64_t kBits = 10'000'000'000;
    Pacer pacer{{.units_per_second = kBits, .ticks_per_second = kHz, .backlog = 1'000'000}, 0};
    std::uint64_t bits = 0;
    std::uint64_t frame = 0;
    for (std::uint64_t now = 0; now <= kHz / 10; now += 997) {
        for (pacer.advance(now); pacer.is_due(); ++frame) {
            const std::uint64_t size = frame % 3 == 0 ? 12304 : 672;
            pacer.spend(size);
            bits += size;
        }
    }
    EXPECT_NEAR(static_cast<double>(bits), kBits / 10.0, 20'000);
    EXPECT_EQ(pacer.skipped(), 0U);
}

TEST(Pacer, ARateBelowOneASecondIsHeldToo) {
    Pacer pacer{{.units_per_second = 0.5, .ticks_per_second = 1000, .backlog = 10}, 0};
    EXPECT_EQ(send_all_due(pacer, 0), 1U);
    EXPECT_EQ(send_all_due(pacer, 1999), 0U);
    EXPECT_EQ(send_all_due(pacer, 2000), 1U);
    EXPECT_EQ(send_all_due(pacer, 6000), 2U);
}

TEST(Pacer, FractionsOfARateAddUp) {
    Pacer pacer{{.units_per_second = 1.9, .ticks_per_second = 1000, .backlog = 100}, 0};
    EXPECT_EQ(send_all_due(pacer, 10'000), 20U);
}

TEST(Pacer, TheHighestRateOverDaysIsNoOverflow) {
    Pacer pacer{{.units_per_second = 1e12, .ticks_per_second = kHz, .backlog = UINT64_MAX}, 0};
    const std::uint64_t seconds = 100 * 86'400;
    pacer.advance(seconds * kHz);
    pacer.spend(seconds * 1'000'000'000'000);
    EXPECT_TRUE(pacer.is_due());
    pacer.spend(1);
    EXPECT_FALSE(pacer.is_due());
}

TEST(Pacer, WithoutARateEverythingIsDue) {
    Pacer pacer{{}, 0};
    for (int i = 0; i < 1000; ++i) {
        ASSERT_TRUE(pacer.is_due());
        pacer.spend(1);
    }
}

}  // namespace
}  // namespace sluice::pktgen::pacer_test
