#include "lib/meter/limit.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

using namespace std::chrono_literals;

Result<Limit> limit(std::uint64_t units, Nanoseconds period, std::uint64_t burst) {
    return Limit::make({.units = Units{units}, .period = period}, Units{burst});
}

TEST(Limit, ReducesTheTimePerUnit) {
    const Limit fast = *limit(50'000'000'000, 1s, 1'000'000);  // 400 Gbit/s in bytes
    EXPECT_EQ(fast.period(), 1U);
    EXPECT_EQ(fast.parts(), 50U);
    const Limit slow = *limit(1, 24h, 3);
    EXPECT_EQ(slow.period(), 86'400'000'000'000U);
    EXPECT_EQ(slow.parts(), 1U);
    const Limit odd = *limit(333'333'333, 1s, 1);
    EXPECT_EQ(odd.period(), 1'000'000'000U);
    EXPECT_EQ(odd.parts(), 333'333'333U);
}

TEST(Limit, KeepsTheBurst) {
    EXPECT_EQ(limit(10, 1s, 7)->burst(), 7U);
}

struct Refused {
    std::uint64_t units;
    Nanoseconds period;
    std::uint64_t burst;
    std::string_view says;
};

const Refused kRefused[] = {
    {0, 1s, 1, "above zero"},
    {1, 0s, 1, "above zero"},
    {1, 1s, 0, "at least 1"},
    {1'000'000'000'000, 1s, 1, "above the largest"},
    // burst * T above 2^62 ns (146 years)
    {1, 24h, 53'376, "largest that fits is 53375"},
    // more than 2^32 parts, and the neighbours that have fewer
    {49'999'999'999, 1s, 1, "nearest that fit are 49999999984 and 50000000000"},
};

TEST(Limit, RefusesWhatItCannotMeterAndNamesWhatFits) {
    for (const Refused& row : kRefused) {
        const Result<Limit> made = limit(row.units, row.period, row.burst);
        ASSERT_FALSE(made.has_value()) << row.units;
        EXPECT_EQ(made.error().code, Errc::OutOfRange);
        EXPECT_NE(made.error().what.find(row.says), std::string::npos) << made.error().what;
    }
}

TEST(Limit, TheNumbersItNamesDoFit) {
    EXPECT_TRUE(limit(1, 24h, 53'375).has_value());
    EXPECT_TRUE(limit(49'999'999'984, 1s, 1).has_value());
    EXPECT_TRUE(limit(50'000'000'000, 1s, 1).has_value());
}

}  // namespace
}  // namespace sluice
