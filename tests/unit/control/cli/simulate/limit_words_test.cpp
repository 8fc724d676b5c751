#include "control/cli/simulate/limit_words.hpp"

#include "lib/policy/zones/time_zones.hpp"

#include <gtest/gtest.h>

namespace sluice::limit_words_test {
namespace {

using namespace std::chrono_literals;

struct Good {
    std::string_view algorithm;
    LimitWords words;
    AnyLimit limit;
    Per per = Per::Packet;
};

Limit bucket(std::uint64_t units, Nanoseconds period, std::uint64_t burst) {
    return *Limit::make({.units = Units{units}, .period = period}, Units{burst}, LeastBurst::Zero);
}

TEST(LimitWords, AreThoseOfTheRuleLanguage) {
    using enum ColorVariant;
    const WindowNumbers numbers = *make_window_numbers(Units{1000}, 1s);
    const Good rows[] = {
        {"token_bucket",
         {{"rate", "50/s"}, {"burst", "200"}, {"count", ""}},
         TokenBucketLimit{bucket(50, 1s, 200)}},
        {"token_bucket",
         {{"rate", "20Mbit/s"}, {"burst", "256KiB"}},
         TokenBucketLimit{bucket(2'500'000, 1s, 262'144)},
         Per::Byte},
        {"leaky_bucket", {{"rate", "10/h"}, {"queue", "4"}}, LeakyBucketLimit{bucket(10, 1h, 4)}},
        {"fixed_window", {{"count", "1K"}, {"window", "1s"}}, FixedWindowLimit{.numbers = numbers}},
        {"fixed_window",
         {{"count", "1000"}, {"window", "1s"}, {"utc_offset", "-01:30"}},
         *make_fixed_window(numbers, WindowPhase::Clock, -90min)},
        {"fixed_window",
         {{"count", "1000"}, {"window", "1s"}, {"phase", "per_key"}},
         *make_fixed_window(numbers, WindowPhase::PerKey, 0s)},
        {"fixed_window",
         {{"count", "1000"}, {"window", "1d"}, {"zone", "Europe/Moscow"}},
         *make_day_window(*make_window_numbers(Units{1000}, 24h),
                          KeptZone::keep(**read_time_zone("Europe/Moscow")))},
        {"sliding_window", {{"count", "1000"}, {"window", "1s"}}, SlidingWindowLimit{numbers}},
        {"sliding_counters",
         {{"count", "1000"}, {"window", "1s"}},
         *make_sliding_counters(numbers, 60, Edge::Strict)},
        {"sliding_counters",
         {{"count", "1000"}, {"window", "1s"}, {"buckets", "7"}, {"edge", "lenient"}},
         *make_sliding_counters(numbers, 7, Edge::Lenient)},
        {"sliding_log", {{"count", "1000"}, {"window", "1s"}}, SlidingLogLimit{numbers}},
        {"srtcm",
         {{"cir", "5/s"}, {"cbs", "3"}, {"ebs", "0"}, {"color", "aware"}},
         *ColorLimit::make(Rfc2697, ColorMode::Aware, bucket(5, 1s, 3), bucket(5, 1s, 0))},
        {"trtcm",
         {{"cir", "5/s"}, {"cbs", "3"}, {"pir", "7/s"}, {"pbs", "4"}},
         *ColorLimit::make(Rfc2698, ColorMode::Blind, bucket(5, 1s, 3), bucket(7, 1s, 4))},
        {"trtcm",
         {{"cir", "5/s"}, {"cbs", "3"}, {"eir", "7/s"}, {"ebs", "4"}, {"variant", "rfc4115"}},
         *ColorLimit::make(Rfc4115, ColorMode::Blind, bucket(5, 1s, 3), bucket(7, 1s, 4))},
    };
    for (const Good& row : rows) {
        const Result<AnyLimit> limit = read_limit_words(row.algorithm, row.words, row.per);
        ASSERT_TRUE(limit.has_value()) << row.algorithm << ": " << limit.error().what;
        EXPECT_EQ(*limit, row.limit) << row.algorithm;
    }
}

struct Bad {
    std::string_view algorithm;
    LimitWords words;
    Errc code;
    std::string_view says;
};

TEST(LimitWords, SayWhatIsWrong) {
    const Bad rows[] = {
        {"", {}, Errc::BadSyntax, "--algorithm is one of token_bucket, leaky_bucket"},
        {"token_buket", {}, Errc::BadSyntax, "did you mean `token_bucket`"},
        {"concurrency", {}, Errc::BadSyntax, "--algorithm is one of"},
        {"token_bucket", {{"rate", "5/s"}}, Errc::BadSyntax, "needs --burst"},
        {"token_bucket", {{"rate", "5"}, {"burst", "5"}}, Errc::BadSyntax, "--rate"},
        {"token_bucket",
         {{"rate", "5/s"}, {"burst", "5"}, {"window", "1s"}},
         Errc::BadSyntax,
         "has no --window"},
        {"token_bucket", {{"rate", "1/d"}, {"burst", "834"}}, Errc::OutOfRange, "833"},
        {"fixed_window", {{"count", "5"}, {"window", "1us"}}, Errc::OutOfRange, "1ms"},
        {"fixed_window",
         {{"count", "5"}, {"window", "1s"}, {"phase", "last"}},
         Errc::BadSyntax,
         "clock, first, per_key"},
        {"fixed_window",
         {{"count", "5"}, {"window", "1s"}, {"utc_offset", "24h"}},
         Errc::BadSyntax,
         "write for instance +03:00"},
        {"fixed_window",
         {{"count", "5"}, {"window", "1d"}, {"zone", "Europe/Moskow"}},
         Errc::BadSyntax,
         "--zone: there is no time zone `Europe/Moskow`; did you mean `Europe/Moscow`?"},
        {"fixed_window",
         {{"count", "5"}, {"window", "36h"}, {"zone", "Europe/Moscow"}},
         Errc::OutOfRange,
         "whole days"},
        {"sliding_window",
         {{"count", "5"}, {"window", "1d"}, {"zone", "Europe/Moscow"}},
         Errc::BadSyntax,
         "has no --zone"},
        {"sliding_counters",
         {{"count", "5"}, {"window", "1ms"}, {"buckets", "2000"}},
         Errc::OutOfRange,
         "1000"},
        {"srtcm", {{"cir", "5/s"}, {"cbs", "0"}, {"ebs", "0"}}, Errc::OutOfRange, "CBS"},
        {"trtcm",
         {{"cir", "5/s"}, {"cbs", "3"}, {"pir", "4/s"}, {"pbs", "4"}},
         Errc::OutOfRange,
         "PIR"},
        {"trtcm",
         {{"cir", "5/s"}, {"cbs", "3"}, {"pir", "7/s"}, {"pbs", "4"}, {"ebs", "4"}},
         Errc::BadSyntax,
         "rfc2698 has no --ebs"},
        {"trtcm", {{"variant", "rfc1234"}}, Errc::BadSyntax, "rfc2698, rfc4115"},
    };
    for (const Bad& row : rows) {
        const Result<AnyLimit> limit = read_limit_words(row.algorithm, row.words, Per::Packet);
        ASSERT_FALSE(limit.has_value()) << row.says;
        EXPECT_EQ(limit.error().code, row.code) << limit.error().what;
        EXPECT_NE(limit.error().what.find(row.says), std::string::npos) << limit.error().what;
    }
}

}  // namespace
}  // namespace sluice::limit_words_test
