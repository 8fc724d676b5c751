#include "lib/policy/overrides/dynamic_terms.hpp"

#include "lib/policy/compile.hpp"
#include "tests/unit/policy/outcome.hpp"
#include "tests/unit/policy/wrong_text.hpp"

#include <gtest/gtest.h>

#include <string>

namespace sluice::dynamic_terms_test {
namespace {

using test::Outcome;

#define DYNAMIC_HEAD "version: 1\nrules:\n  - id: r\n    mode: enforce\n    key: [ip.src]\n"
#define DYNAMIC_BUCKET "    limits: [{algorithm: token_bucket, rate: 10/s, burst: 10}]\n"
#define DYNAMIC_WINDOW "    limits: [{algorithm: fixed_window, count: 10, window: 1m}]\n"

Outcome compile(const std::string& text, const KeySettings& keys = {}) {
    return test::compile({.file = "r", .text = text, .keys = &keys});
}

std::string rule(const std::string& dynamic, const std::string& limits = DYNAMIC_BUCKET) {
    return DYNAMIC_HEAD + limits + "    dynamic: " + dynamic + "\n";
}

TEST(Dynamic, SaysWhichNumbersMayBeSet) {
    struct Row {
        std::string dynamic;
        std::string limits;
        std::string says;
    };
    const std::vector<Row> rows{
        {"{source: api, ttl: 10m, floor: 1/s, ceiling: 500/s}", DYNAMIC_BUCKET,
         "rate 1/s to 500/s, for at most 10m"},
        {"{source: api, ttl: 1d, floor: 5, ceiling: \"5K\"}", DYNAMIC_WINDOW,
         "count 5 to 5K, for at most 1d"},
        {"{source: api, ttl: 10m, floor: {rate: 6/m, burst: 2}, ceiling: {rate: 1/s, burst: 4}}",
         DYNAMIC_BUCKET, "rate 6/m to 1/s, burst 2 to 4, for at most 10m"},
    };
    for (const Row& row : rows) {
        const Outcome outcome = compile(rule(row.dynamic, row.limits));
        ASSERT_TRUE(outcome.rules) << row.dynamic;
        ASSERT_TRUE(outcome.rules->rules[0].dynamic) << row.dynamic;
        EXPECT_EQ(text_of(*outcome.rules->rules[0].dynamic), row.says);
        EXPECT_TRUE(outcome.problems.empty()) << outcome.problems[0].message;
    }
}

#define DYNAMIC_AT_7(text) DYNAMIC_HEAD DYNAMIC_BUCKET "    dynamic: " text "\n"

constexpr test::WrongText kWrong[] = {
    {DYNAMIC_AT_7("5"), 7, 14, "`dynamic` must be a map"},
    {DYNAMIC_AT_7("{ttl: 1m, floor: 1/s, ceiling: 2/s}"), 7, 14, "`dynamic` needs `source`"},
    {DYNAMIC_AT_7("{source: file, ttl: 1m, floor: 1/s, ceiling: 2/s}"), 7, 23, "`source`"},
    {DYNAMIC_AT_7("{source: api, floor: 1/s, ceiling: 2/s}"), 7, 14, "`dynamic` needs `ttl`"},
    {DYNAMIC_AT_7("{source: api, ttl: 10, floor: 1/s, ceiling: 2/s}"), 7, 33, "a duration from 1s"},
    {DYNAMIC_AT_7("{source: api, ttl: 999ms, floor: 1/s, ceiling: 2/s}"), 7, 33,
     "a duration from 1s"},
    {DYNAMIC_AT_7("{source: api, ttl: 1m, ceiling: 2/s}"), 7, 14, "`dynamic` needs `floor`"},
    {DYNAMIC_AT_7("{source: api, ttl: 1m, floor: 1/s}"), 7, 14, "`dynamic` needs `ceiling`"},
    {DYNAMIC_AT_7("{source: api, ttl: 1m, flor: 1/s, ceiling: 2/s}"), 7, 37,
     "did you mean `floor`?"},
    {DYNAMIC_AT_7("{source: api, ttl: 1m, floor: 1/y, ceiling: 2/s}"), 7, 44,
     "the rate of the limit `1`"},
    {DYNAMIC_AT_7("{source: api, ttl: 1m, floor: 3/s, ceiling: 2/s}"), 7, 58,
     "the ceiling 2/s is below the floor 3/s"},
    {DYNAMIC_AT_7("{source: api, ttl: 1m, floor: 1, ceiling: 2}"), 7, 44,
     "no limit of the rule has a count"},
    {DYNAMIC_AT_7("{source: api, ttl: 1m, floor: 1/s, ceiling: {burst: 9}}"), 7, 58,
     "`ceiling` has no rate"},
    {DYNAMIC_AT_7("{source: api, ttl: 1m, floor: {}, ceiling: 2/s}"), 7, 44,
     "`floor` has no number"},
    {DYNAMIC_AT_7("{source: api, ttl: 1m, floor: [1/s], ceiling: 2/s}"), 7, 44, "must be a map"},
    {"version: 1\nrules:\n  - id: r\n    on_match: drop\n    dynamic: {source: api}\n", 5, 5,
     "no meaning beside `on_match`"},
};

TEST(Dynamic, WhatIsWrongIsSaidWhereItStands) {
    test::expect_errors(kWrong, [](std::string_view text) {
        const Outcome outcome = compile(std::string{text});
        return std::pair{outcome.rules.has_value(), outcome.problems};
    });
}

const std::string kRates = rule("{source: api, ttl: 10m, floor: 30/m, ceiling: 500/s}");

KeySetting set(const std::string& rate, bool is_new, const std::string& burst = "") {
    return {.rule = "r",
            .key = "192.0.2.1",
            .limit = "1",
            .rate = rate,
            .burst = burst,
            .is_new = is_new};
}

// The numbers that the key has in the compiled rules: ns per packet, and the burst.
std::pair<std::uint64_t, std::uint64_t> numbers_of(const CompiledRules& compiled) {
    const Overrides& all = *compiled.set.rules[0].overrides;
    const Limit& limit = std::get<TokenBucketLimit>(all.numbers[0].numbers).gcra;
    return {limit.period() / limit.parts(), limit.burst()};
}

TEST(Dynamic, NewNumbersAreWithinTheBoundsWhichBelongToThem) {
    struct Row {
        std::string rate;
        std::uint64_t ns;  // per packet; 0: refused
    };
    // Half a packet a second is the floor, in whatever unit.
    const std::vector<Row> rows{{"30/m", 2'000'000'000},
                                {"1800/h", 2'000'000'000},
                                {"500/s", 2'000'000},
                                {"30K/m", 2'000'000},
                                {"29/m", 0},
                                {"1799/h", 0},
                                {"501/s", 0},
                                {"30001/m", 0}};
    for (const Row& row : rows) {
        const Outcome outcome = compile(kRates, {set(row.rate, true)});
        ASSERT_EQ(outcome.rules.has_value(), row.ns != 0) << row.rate;
        if (outcome.rules) {
            EXPECT_EQ(numbers_of(*outcome.rules), (std::pair{row.ns, std::uint64_t{10}}));
        } else {
            EXPECT_EQ(outcome.problems[0].message,
                      "the key 192.0.2.1: the rate " + row.rate +
                          " is outside of the rule's `dynamic`: floor 30/m, ceiling 500/s");
        }
    }
    const Outcome burst = compile(kRates, {set("", true, "5")});
    ASSERT_FALSE(burst.rules);
    EXPECT_NE(burst.problems[0].message.find("no bounds for a burst"), std::string::npos);
}

// A file with other bounds brings what is set back to the nearest one.
TEST(Dynamic, NumbersFromBeforeAreHeldAtTheNearestBound) {
    const Outcome above = compile(kRates, {set("900/s", false)});
    ASSERT_TRUE(above.rules);
    EXPECT_EQ(numbers_of(*above.rules).first, 2'000'000U);
    ASSERT_EQ(above.problems.size(), 1U);
    EXPECT_EQ(above.problems[0].severity, Severity::Warning);
    EXPECT_NE(above.problems[0].message.find("of 1 key the numbers that were set are outside"),
              std::string::npos);
    const Outcome below = compile(kRates, {set("1/h", false)});
    ASSERT_TRUE(below.rules);
    EXPECT_EQ(numbers_of(*below.rules).first, 2'000'000'000U);
    const Outcome unbounded = compile(kRates, {set("100/s", false, "77")});
    ASSERT_TRUE(unbounded.rules);
    EXPECT_EQ(numbers_of(*unbounded.rules),
              (std::pair<std::uint64_t, std::uint64_t>{10'000'000, 10}))
        << "the burst has no bounds, and is the rule's own";
}

// One way of counting, whether or not a number is set just now.
TEST(Dynamic, TheScopeDoesNotChangeWithASetting) {
    const Outcome without = compile(kRates);
    const Outcome with = compile(kRates, {set("100/s", true)});
    ASSERT_TRUE(without.rules && with.rules);
    EXPECT_EQ(without.rules->rules[0].limits[0].scope, with.rules->rules[0].limits[0].scope);
}

// A rule file may be JSON: a share may be quoted.
TEST(Dynamic, AQuotedShareIsTheSame) {
    const std::string text = DYNAMIC_HEAD DYNAMIC_BUCKET "    table_share: ";
    const Outcome quoted = compile(text + "\"25%\"\n");
    const Outcome plain = compile(text + "25%\n");
    ASSERT_TRUE(quoted.rules && plain.rules);
    EXPECT_EQ(quoted.rules->set.rules[0].table_share, plain.rules->set.rules[0].table_share);
    EXPECT_EQ(quoted.rules->set.rules[0].table_share, kWholeTable / 4);
}

}  // namespace
}  // namespace sluice::dynamic_terms_test
