#include "control/heatmap/limit_terms.hpp"

#include <gtest/gtest.h>

namespace sluice::limit_terms_test {
namespace {

LimitSummary summary(const AnyLimit& limit, Per per = Per::Request) {
    return {.name = "1",
            .key = "ip.src",
            .text = "as written",
            .scope = "local",
            .bound = "",
            .scope_note = "",
            .numbers = SharedNumbers{.limit = limit, .per = per},
            .schema = {}};
}

TEST(HeatTerms, OfABucketTheStepIsNearTheTimeThatItTakesToFill) {
    const auto limit = Limit::make({Units{300}, std::chrono::minutes{1}}, Units{50});
    const HeatTerms terms = heat_terms(summary(TokenBucketLimit{*limit}));
    EXPECT_EQ(terms.text, "5 requests per second, 50 at once");
    EXPECT_EQ(terms.unit, "requests");
    EXPECT_DOUBLE_EQ(terms.window_s, 10);
    EXPECT_EQ(terms.step, 10U);
    EXPECT_DOUBLE_EQ(terms.most_in(10), 100);
    EXPECT_DOUBLE_EQ(terms.most_in(60), 350);
    EXPECT_DOUBLE_EQ(terms.steady_in(10), 50);
    EXPECT_EQ(terms.limit_bucket(60), 17U);
    const auto slow = Limit::make({Units{5}, std::chrono::hours{1}}, Units{10});
    EXPECT_DOUBLE_EQ(heat_terms(summary(TokenBucketLimit{*slow})).steady_in(60), 1);
}

TEST(HeatTerms, OfAWindowTheStepIsNearItsLengthAndShorterColumnsAdmitAllOfIt) {
    const HeatTerms terms = heat_terms(
        summary(SlidingWindowLimit{{.count = 300, .window = 60'000'000'000}}, Per::Packet));
    EXPECT_EQ(terms.text, "300 packets per minute");
    EXPECT_EQ(terms.step, 60U);
    EXPECT_DOUBLE_EQ(terms.most_in(60), 300);
    EXPECT_DOUBLE_EQ(terms.most_in(10), 300);
    EXPECT_DOUBLE_EQ(terms.steady_in(10), 50);
    const HeatTerms odd =
        heat_terms(summary(SlidingLogLimit{{.count = 4, .window = 2'000'000'000}}));
    EXPECT_EQ(odd.text, "4 requests per 2 s");
    EXPECT_DOUBLE_EQ(odd.most_in(10), 20);
}

TEST(HeatTerms, WhatIsNoRateAndNoWindowIsToldAsWritten) {
    EXPECT_EQ(heat_terms(summary(ConcurrencyLimit{})).text, "as written");
    LimitSummary unknown = summary(ConcurrencyLimit{});
    unknown.numbers.reset();
    EXPECT_EQ(heat_terms(unknown).text, "as written");
    EXPECT_EQ(heat_terms(unknown).step, 10U);
}

}  // namespace
}  // namespace sluice::limit_terms_test
