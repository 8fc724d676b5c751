#include "lib/bucket/meter/limit.hpp"

#include <gtest/gtest.h>

#include <random>

namespace sluice::limit_test {
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
    const Limit odd = *limit(9'999'991, 1s, 1);
    EXPECT_EQ(odd.period(), 1'000'000'000U);
    EXPECT_EQ(odd.parts(), 9'999'991U);
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
    // burst * T above 2^56 ns (833 days)
    {1, 24h, 834, "largest that fits is 833"},
    // burst * period above 2^63
    {16'777'213, 1s, 9'223'372'037, "largest that fits is 9223372036"},
    // more than 2^24 parts, and the neighbours that have fewer
    {333'333'333, 1s, 1, "nearest that fit are 333333325 and 333333340"},
    {49'999'999'999, 1s, 1, "nearest that fit are 49999996875 and 50000000000"},
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
    EXPECT_TRUE(limit(1, 24h, 833).has_value());
    EXPECT_TRUE(limit(16'777'213, 1s, 9'223'372'036).has_value());
    EXPECT_TRUE(limit(333'333'325, 1s, 1).has_value());
    EXPECT_TRUE(limit(333'333'340, 1s, 1).has_value());
    EXPECT_TRUE(limit(49'999'996'875, 1s, 1).has_value());
    EXPECT_TRUE(limit(50'000'000'000, 1s, 1).has_value());
}

TEST(Limit, AnEmptyBucketOnlyWhereItIsAskedFor) {
    EXPECT_FALSE(limit(1, 1s, 0).has_value());
    EXPECT_TRUE(Limit::make({.units = Units{1}, .period = 1s}, Units{0}, LeastBurst::Zero));
}

// The division by multiplication, on both sides of the costs it is for.
TEST(Limit, TheTimeOfACostIsExact) {
    std::mt19937_64 random{11};
    for (int i = 0; i < 2000; ++i) {
        const std::uint64_t units = 1 + random() % ((std::uint64_t{1} << 24) - 1);
        const Limit made = *limit(
            units, Nanoseconds{1 + static_cast<std::int64_t>(random() % 1'000'000'007)}, 100'000);
        const std::uint64_t costs[] = {1, 2, 1500, 65'534, 65'535, 65'536, 1 + random() % 100'000};
        for (const std::uint64_t cost : costs) {
            const Lapse lapse = made.time_of(Units{cost});
            const std::uint64_t exact = cost * made.period();
            ASSERT_EQ(lapse.whole, exact / made.parts()) << units << " " << cost;
            ASSERT_EQ(lapse.rest, exact % made.parts()) << units << " " << cost;
        }
    }
}

TEST(Limit, TheTimeOfAsManyUnitsAsThereArePartsIsWhole) {
    for (std::uint64_t parts = 1; parts < 65'536; parts += parts < 300 ? 1 : 97) {
        const Result<Limit> made = limit(parts, Nanoseconds{1'000'000'007}, 1'000'000);
        ASSERT_TRUE(made.has_value());
        const Lapse lapse = made->time_of(Units{made->parts()});
        ASSERT_EQ(lapse.whole, made->period()) << parts;
        ASSERT_EQ(lapse.rest, 0U) << parts;
    }
}

}  // namespace
}  // namespace sluice::limit_test
