#include "lib/bucket/meter/color_limit.hpp"

#include <gtest/gtest.h>

namespace sluice::color_limit_test {
namespace {

using namespace std::chrono_literals;

TEST(ColorLimit, TakesWhatTheRfcsAllowAndNamesWhatFits) {
    struct Row {
        ColorVariant variant;
        std::uint64_t first_rate, first_burst, second_rate, second_burst;
        Nanoseconds period;
        std::string_view says;  // empty: it fits
    };
    const Row rows[] = {
        {ColorVariant::Rfc2697, 10, 5, 10, 5, 1s, ""},
        {ColorVariant::Rfc2697, 10, 0, 10, 5, 1s, ""},
        {ColorVariant::Rfc2697, 10, 5, 10, 0, 1s, ""},
        {ColorVariant::Rfc2697, 10, 0, 10, 0, 1s, "CBS or the EBS"},
        {ColorVariant::Rfc2697, 10, 5, 11, 5, 1s, "one rate"},
        {ColorVariant::Rfc2697, 1, 433, 1, 400, 24h, ""},
        {ColorVariant::Rfc2697, 1, 434, 1, 400, 24h, "together: the burst is too large"},
        {ColorVariant::Rfc2698, 10, 5, 10, 5, 1s, ""},
        {ColorVariant::Rfc2698, 10, 50, 11, 5, 1s, ""},
        {ColorVariant::Rfc2698, 10, 5, 9, 5, 1s, "PIR"},
        {ColorVariant::Rfc2698, 10, 0, 10, 5, 1s, "at least 1"},
        {ColorVariant::Rfc2698, 10, 5, 10, 0, 1s, "at least 1"},
        {ColorVariant::Rfc4115, 10, 5, 3, 5, 1s, ""},
        {ColorVariant::Rfc4115, 10, 0, 3, 5, 1s, ""},
        {ColorVariant::Rfc4115, 10, 5, 3, 0, 1s, ""},
        {ColorVariant::Rfc4115, 10, 0, 3, 0, 1s, "CBS or the EBS"},
    };
    for (const Row& row : rows) {
        const auto bucket = [&row](std::uint64_t rate, std::uint64_t burst) {
            return *Limit::make({.units = Units{rate}, .period = row.period}, Units{burst},
                                LeastBurst::Zero);
        };
        const Result<ColorLimit> made =
            ColorLimit::make(row.variant, ColorMode::Blind, bucket(row.first_rate, row.first_burst),
                             bucket(row.second_rate, row.second_burst));
        ASSERT_EQ(made.has_value(), row.says.empty()) << row.first_rate << " " << row.second_rate;
        if (!made) {
            EXPECT_EQ(made.error().code, Errc::OutOfRange);
            EXPECT_NE(made.error().what.find(row.says), std::string::npos) << made.error().what;
        }
    }
}

}  // namespace
}  // namespace sluice::color_limit_test
