#include "lib/policy/overrides/override_csv.hpp"

#include "lib/policy/compile.hpp"
#include "lib/policy/overrides/override_cache.hpp"
#include "tests/unit/policy/outcome.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

namespace sluice::override_csv_test {
namespace {

using namespace std::chrono_literals;
using test::Outcome;

#define HEADER "key,limit,rate,burst,count,expires,reason\n"

// A rule with a bucket and a window, both by source and port.
std::string rules(const std::string& overrides) {
    return "version: 1\nrules:\n  - id: r\n    mode: enforce\n    key: [ip.src, l4.dport]\n"
           "    limits:\n"
           "      - {algorithm: token_bucket, rate: 50/s, burst: 200}\n"
           "      - {algorithm: sliding_window, count: 10, window: 1h}\n"
           "    overrides: " +
           overrides + "\n";
}

Outcome compile(const std::string& csv, const std::string& overrides = "{file: o.csv}",
                Purpose purpose = Purpose::Enforce) {
    const ListReader files = [&](const std::string& path) -> Result<ListFile> {
        if (path != "o.csv") {
            return Error{Errc::Unreachable, "cannot read " + path};
        }
        return ListFile{"/etc/o.csv", std::make_shared<const std::string>(csv)};
    };
    const std::string text = rules(overrides);
    return test::compile({"rules", text, &files}, purpose);
}

TEST(OverrideCsv, OneLineForEachLimitOfAKey) {
    const Outcome done = compile(HEADER
                                 "192.0.2.1|53,1,500/s,2000,,2027-12-31,contract 17\n"
                                 "192.0.2.1|53,2,,,5000000,2027-12-31T12:00:00Z,\r\n"
                                 "\n"
                                 "192.0.2.2|53,exempt,,,,,\"says \"\"yes\"\", twice\"\n"
                                 "192.0.2.3|53,1,,300,,,\n");
    ASSERT_TRUE(done.rules) << done.problems.front().message;
    const Overrides& all = *done.rules->set.rules[0].overrides;
    ASSERT_EQ(all.keys.size(), 1U);
    ASSERT_EQ(all.keys[0].rows.size(), 3U);
    const auto plan = [&](std::size_t row) { return all.plans[all.keys[0].rows[row].plan]; };
    ASSERT_EQ(plan(0).count, 2U);
    const auto numbers = all.numbers_of(plan(0));
    const auto day = std::chrono::sys_days{std::chrono::year{2027} / 12 / 31};
    EXPECT_EQ(numbers[0].until, Nanoseconds{(day + std::chrono::days{1}).time_since_epoch()});
    EXPECT_EQ(numbers[1].until, Nanoseconds{day.time_since_epoch() + 12h});
    EXPECT_EQ(std::get<TokenBucketLimit>(numbers[0].numbers).gcra,
              *Limit::make({Units{500}, 1s}, Units{2000}));
    EXPECT_EQ(std::get<SlidingWindowLimit>(numbers[1].numbers).numbers,
              *make_window_numbers(Units{5'000'000}, 1h));
    EXPECT_TRUE(plan(1).exempt);
    EXPECT_EQ(plan(1).exempt_until, kForever);
    EXPECT_EQ(std::get<TokenBucketLimit>(all.numbers_of(plan(2))[0].numbers).gcra,
              *Limit::make({Units{50}, 1s}, Units{300}));
    EXPECT_TRUE(done.rules->rules[0].settings.back().value.starts_with("3 keys, sum "));
}

#define BAN_HEADER "key,limit,rate,burst,count,expires,reason,ban\n"

TEST(OverrideCsv, ALineWithBanBansItsKey) {
    const Outcome done = compile(BAN_HEADER
                                 "192.0.2.1|53,,,,,2027-12-31,abuse,yes\n"
                                 "192.0.2.1|53,1,5/s,,,,its numbers once the ban is over,\n"
                                 "192.0.2.2|53,,,,,,,yes\n"
                                 "192.0.2.3|53,exempt,,,,,,\n");
    ASSERT_TRUE(done.rules) << done.problems.front().message;
    const Overrides& all = *done.rules->set.rules[0].overrides;
    const auto plan = [&](std::size_t row) { return all.plans[all.keys[0].rows[row].plan]; };
    const auto day = std::chrono::sys_days{std::chrono::year{2027} / 12 / 31};
    EXPECT_TRUE(plan(0).banned);
    EXPECT_EQ(plan(0).banned_until, Nanoseconds{(day + std::chrono::days{1}).time_since_epoch()});
    EXPECT_EQ(plan(0).count, 1U);
    EXPECT_TRUE(plan(1).banned);
    EXPECT_EQ(plan(1).banned_until, kForever);
    EXPECT_FALSE(plan(2).banned);
    EXPECT_TRUE(plan(2).exempt);
}

// A network is filed by the bytes of a key that is as short as it is.
TEST(OverrideCsv, NetworksAreBannedWhereAKeyIsOneAddress) {
    const auto compile_one = [](const std::string& key, const std::string& csv) {
        const ListReader files = [&](const std::string& path) -> Result<ListFile> {
            return ListFile{path, std::make_shared<const std::string>(csv)};
        };
        const std::string text = "version: 1\nrules:\n  - {id: r, mode: enforce, key: [\"" + key +
                                 "\"], limits: [{algorithm: token_bucket, rate: 5/s, burst: 5}], "
                                 "overrides: {file: o.csv}}\n";
        return test::compile({"rules", text, &files});
    };
    const Outcome done = compile_one("ip.src", BAN_HEADER
                                     "192.0.2.0/24,,,,,,,yes\n2001:db8::/32,,,,,,,yes\n"
                                     "192.0.2.7,,,,,,,yes\n");
    ASSERT_TRUE(done.rules) << done.problems.front().message;
    const Overrides& all = *done.rules->set.rules[0].overrides;
    ASSERT_EQ(all.networks.size(), 1U);
    EXPECT_EQ(all.networks[0].rows.size(), 2U);
    EXPECT_EQ(all.keys[0].rows.size(), 1U);
    EXPECT_EQ(done.rules->rules[0].banned->size(), 3U);
    // What is a key itself is none.
    const Outcome exact = compile_one("prefix(ip.src, 24|64)",
                                      BAN_HEADER "192.0.2.0/24,,,,,,,yes\n10.0.0.0/8,,,,,,,yes\n");
    ASSERT_TRUE(exact.rules) << exact.problems.front().message;
    EXPECT_EQ(exact.rules->set.rules[0].overrides->networks[0].rows.size(), 1U);
    const auto says = [&](const std::string& key, const std::string& lines) {
        const Outcome wrong = compile_one(key, BAN_HEADER + lines);
        return wrong.problems.empty() ? std::string{} : wrong.problems.front().message;
    };
    EXPECT_NE(says("ip.src", "0.0.0.0/0,,,,,,,yes\n").find("bans every address of IPv4"),
              std::string::npos);
    EXPECT_NE(says("prefix(ip.src, 24|64)", "::/0,,,,,,,yes\n").find("bans every address of IPv6"),
              std::string::npos);
    EXPECT_EQ(says("ip.src", "0.0.0.0/1,,,,,,,yes\n"), "");
    EXPECT_NE(says("l4.dport", "192.0.2.0/24,,,,,,,yes\n").find("where a key is one address"),
              std::string::npos);
    EXPECT_NE(says("prefix(ip.src, 24|64)", "192.0.2.0/28,,,,,,,yes\n").find("shorter than /24"),
              std::string::npos);
    EXPECT_EQ(says("ip.src", "192.0.2.0/24,1,,5,,,,\n"), "");
    EXPECT_NE(says("ip.src", "192.0.2.5-192.0.2.9,,,,,,,yes\n").find("networks that it is made of"),
              std::string::npos);
    std::string many;
    for (int length = 8; length <= 16; ++length) {
        many += "10.0.0.0/" + std::to_string(length) + ",,,,,,,yes\n";
    }
    EXPECT_NE(says("ip.src", many).find("at most 8 different lengths"), std::string::npos);
}

TEST(OverrideCsv, WhatIsWrongWithABanStandsAtItsField) {
    const auto first = [](const std::string& lines) {
        const Outcome done = compile(BAN_HEADER + lines);
        return done.problems.empty() ? std::string{} : done.problems.front().message;
    };
    EXPECT_NE(first("192.0.2.1|53,,,,,,,no\n").find("`ban` is yes or empty, found `no`"),
              std::string::npos);
    EXPECT_NE(first("192.0.2.1|53,1,,,,,,yes\n").find("the field `limit` of its line is empty"),
              std::string::npos);
    EXPECT_NE(first("192.0.2.1|53,,5/s,,,,,yes\n").find("bans a key has no numbers"),
              std::string::npos);
    EXPECT_NE(first("192.0.2.1|53,,,,,,,yes\n192.0.2.1|53,,,,,,,yes\n").find("banned twice"),
              std::string::npos);
    EXPECT_NE(first("192.0.2.1|53,1,5/s,,,,\n").find("7 fields, and eight belong"),
              std::string::npos);
}

// What `diff` compares: the order of lines and the reasons mean nothing, all else does.
TEST(OverrideCsv, TheSumIsThatOfWhatCounts) {
    const auto sum = [](const std::string& lines) {
        const Outcome done = compile(HEADER + lines);
        return done.rules ? done.rules->rules[0].settings.back().value : "";
    };
    const std::string before = sum("192.0.2.1|53,1,5/s,,,,\n192.0.2.2|53,exempt,,,,,\n");
    EXPECT_NE(before, "");
    EXPECT_EQ(sum("192.0.2.2|53,exempt,,,,,why\n192.0.2.1|0x35,1,5/s,,,,\n"), before);
    for (const char* other : {"192.0.2.1|53,1,6/s,,,,\n192.0.2.2|53,exempt,,,,,\n",
                              "192.0.2.1|54,1,5/s,,,,\n192.0.2.2|53,exempt,,,,,\n",
                              "192.0.2.1|53,1,5/s,,,2027-01-01,\n192.0.2.2|53,exempt,,,,,\n",
                              "192.0.2.2|53,1,5/s,,,,\n192.0.2.1|53,exempt,,,,,\n"}) {
        EXPECT_NE(sum(other), before) << other;
    }
}

struct Bad {
    std::string csv;
    std::uint32_t line;
    std::uint32_t column;
    std::string says;
};

TEST(OverrideCsv, SaysWhichLineAndColumnIsWrong) {
    const Bad rows[] = {
        {"", 1, 1, "the first line of an override file is key,limit"},
        {"key,limit\n", 1, 1, "the first line of an override file is"},
        {HEADER "192.0.2.1|53,1,5/s\n", 2, 19, "has 3 fields"},
        {HEADER "192.0.2.1|53,1,5/s,,,,,\n", 2, 24, "seven fields"},
        {HEADER "192.0.2.1,1,5/s,,,,\n", 2, 1, "has 1 part"},
        {HEADER "192.0.2.1|x,1,5/s,,,,\n", 2, 1, "l4.dport: "},
        {HEADER "\n192.0.2.1|53,3,5/s,,,,\n", 3, 14, "no limit `3`"},
        {HEADER "192.0.2.1|53,exemt,,,,,\n", 2, 14, "did you mean `exempt`?"},
        {HEADER "192.0.2.1|53,exempt,5/s,,,,\n", 2, 14, "exempt has no numbers"},
        {HEADER "192.0.2.1|53,1,5,,,,\n", 2, 16, "5"},
        {HEADER "192.0.2.1|53,1,,2000000000000000000000,,,\n", 2, 17, ""},
        {HEADER "192.0.2.1|53,1,,,7,,\n", 2, 18, "it has `rate` and `burst`"},
        {HEADER "192.0.2.1|53,1,,,,,\n", 2, 16, "needs a `rate`"},
        {HEADER "192.0.2.1|53,2,5/s,,,,\n", 2, 16, "it has a `count`"},
        {HEADER "192.0.2.1|53,2,,,,,\n", 2, 18, "needs a `count`"},
        {HEADER "192.0.2.1|53,2,,,0,,\n", 2, 18, ""},
        {HEADER "192.0.2.1|53,2,,,7,soon,\n", 2, 20, "expected a day"},
        {HEADER "192.0.2.1|53,2,,,7,2027-02-30,\n", 2, 20, "expected a day"},
        {HEADER "192.0.2.1|53,2,,,7,2027-02-20T24:00:00Z,\n", 2, 20, "expected a day"},
        {HEADER "192.0.2.1|53,2,,,7,,\"half\n", 2, 21, "ends with a quote"},
        {HEADER "192.0.2.1|53,2,,,7,,a\"b\"\n", 2, 22, "at the beginning of a field"},
        {HEADER "192.0.2.1|53,2,,,7,,\x01\n", 2, 21, ""},
        {HEADER "192.0.2.1|53,2,,,7,,\n192.0.2.1|53,2,,,8,,\n", 3, 1,
         "the limit `2` twice; the first is on line 2"},
        {HEADER "192.0.2.1|53,exempt,,,,,\n192.0.2.1|53,2,,,8,,\n", 3, 1,
         "the key is exempt, and has numbers or is so twice; the first is on line 2"},
        {HEADER "192.0.2.1|53,exempt,,,,,\n192.0.2.1|0x35,exempt,,,,,\n", 3, 1, "twice"},
    };
    for (const Bad& row : rows) {
        const Outcome done = compile(row.csv);
        ASSERT_FALSE(done.rules) << row.csv;
        const Problem& first = done.problems.front();
        EXPECT_EQ(first.file, "/etc/o.csv") << row.csv;
        EXPECT_EQ(first.at.line, row.line) << row.csv << first.message;
        EXPECT_EQ(first.at.column, row.column) << row.csv << first.message;
        EXPECT_NE(first.message.find(row.says), std::string::npos) << row.csv << first.message;
    }
}

// Many lines of one key cost what as many keys cost. (In the square of their number they would take
// longer than a test may.)
TEST(OverrideCsv, AnyNumberOfLinesOfOneKeyIsReadInLinearTime) {
    std::string csv = HEADER;
    constexpr int kLines = 800'000;
    for (int i = 0; i < kLines; ++i) {
        csv += i % 2 == 0 ? "192.0.2.1|53,1,,300,,,\n" : "192.0.2.1|53,2,,,30,,\n";
    }
    const Outcome done = compile(csv);
    EXPECT_FALSE(done.rules);
    ASSERT_EQ(done.problems.size(), 20U);
    EXPECT_EQ(done.problems.front().at.line, 4U);
    EXPECT_NE(done.problems.front().message.find("the first is on line 2"), std::string::npos);
    EXPECT_NE(done.problems[1].message.find("the first is on line 3"), std::string::npos);
}

// Beside the table: packets meet the same ban whatever its reason.
TEST(OverrideCsv, ABanKeepsItsLineAndTheReasonThere) {
    const std::string reasons[] = {"spam", "\"so, and \"\"so\"\"\"", "", "spam"};
    const std::string told[] = {"spam", "so, and \"so\"", "", "spam"};
    std::string csv = BAN_HEADER;
    std::string without = BAN_HEADER;
    for (std::size_t i = 0; i < 4; ++i) {
        const std::string key = "192.0.2." + std::to_string(i) + "|53,,,,,,";
        csv += key + reasons[i] + ",yes\n";
        without += key + ",yes\n";
    }
    csv += "192.0.2.9|53,1,5/s,,,,of no ban,\n";
    without += "192.0.2.9|53,1,5/s,,,,,\n";
    const Outcome done = compile(csv);
    ASSERT_TRUE(done.rules) << done.problems.front().message;
    const BannedKeys& banned = *done.rules->rules[0].banned;
    ASSERT_EQ(banned.size(), 4U);
    for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_EQ(banned[i].reason == nullptr ? "" : *banned[i].reason, told[i]);
        EXPECT_EQ(banned[i].line, i + 2);
    }
    EXPECT_EQ(banned[0].reason, banned[3].reason) << "held once";
    const Outcome plain = compile(without);
    EXPECT_EQ(done.rules->set.rules[0].overrides->plans.size(),
              plain.rules->set.rules[0].overrides->plans.size());
    EXPECT_EQ(done.rules->rules[0].settings.back().value,
              plain.rules->rules[0].settings.back().value);
}

// Whoever compiles is heard while a file is read, and between its keys; half a file is none.
TEST(OverrideCsv, ReadingCanBeInterrupted) {
    std::string csv = HEADER;
    for (int i = 0; i < 10'000; ++i) {
        csv += "192.0." + std::to_string(i / 250) + "." + std::to_string(i % 250) + "|53,1,,9,,,\n";
    }
    std::stop_source stop;
    Problems problems{"rules", stop.get_token()};
    const ListReader files = [&](const std::string&) -> Result<ListFile> {
        (void)stop.request_stop();
        return ListFile{"/etc/o.csv", std::make_shared<const std::string>(csv + "a fault\n")};
    };
    OverrideCache cache;
    const std::string text = rules("{file: o.csv}");
    const RuleText source{"rules", text, &files, nullptr, nullptr, nullptr, &cache};
    EXPECT_FALSE(compile_rules(source, Purpose::Enforce, {}, problems));
    ASSERT_EQ(problems.list().size(), 1U);
    EXPECT_NE(problems.list().front().message.find("interrupted"), std::string::npos);

    // Nothing of it is kept: read whole, the file has its fault.
    Problems again{"rules"};
    EXPECT_FALSE(compile_rules(source, Purpose::Enforce, {}, again));
    ASSERT_EQ(again.list().size(), 1U);
    EXPECT_EQ(again.list().front().at.line, 10'002U);
}

TEST(OverrideCsv, TheSameKeyInTheRuleFileIsTwiceToo) {
    const Outcome done =
        compile(HEADER "192.0.2.1|53,1,5/s,,,,\n",
                "{file: o.csv, inline: [{key: [192.0.2.1, 53], limits: {\"1\": {rate: 7/s}}}]}");
    ASSERT_FALSE(done.rules);
    EXPECT_EQ(done.problems.front().at.line, 2U);
    EXPECT_NE(done.problems.front().message.find("of the rule file"), std::string::npos)
        << done.problems.front().message;
}

TEST(OverrideCsv, AMissingFileIsAWarningForCheckAndAnErrorForApply) {
    const Outcome strict = compile("", "{file: none.csv}");
    EXPECT_FALSE(strict.rules);
    const Outcome check = compile("", "{file: none.csv}", Purpose::Check);
    EXPECT_TRUE(check.rules);
    ASSERT_EQ(check.problems.size(), 1U);
    EXPECT_EQ(check.problems[0].severity, Severity::Warning);
}

struct BadInline {
    std::string overrides;
    std::string says;
};

TEST(OverrideCsv, WhatStandsInTheRuleFileIsReadAsStrictly) {
    const BadInline rows[] = {
        {"{inline: 7}", "`inline` is a list of overrides"},
        {"{inlin: []}", "inline"},
        {"{inline: [{exempt: true}]}", "an override needs a `key`"},
        {"{inline: [{key: [192.0.2.1, 53]}]}", "has `limits` or is `exempt: true`"},
        {"{inline: [{key: [192.0.2.1, 53], exempt: true, limits: {\"1\": {rate: 1/s}}}]}",
         "has `limits` or is `exempt: true`"},
        {"{inline: [{key: [192.0.2.1], exempt: true}]}", "has 1 part"},
        {"{inline: [{key: [192.0.2.1, 53], limits: {\"1\": {rte: 1/s}}}]}", "rte"},
        {"{inline: [{key: [192.0.2.1, 53], limits: {\"1\": {rate: 1}}}]}", "rate"},
        {"{inline: [{key: [192.0.2.1, 53], limits: {one: {rate: 1/s}}}]}", "no limit `one`"},
        {"{inline: [{key: [192.0.2.1, 53], exempt: true, until: soon}]}", "expected a day"},
    };
    for (const BadInline& row : rows) {
        const Outcome done = compile("", row.overrides);
        ASSERT_FALSE(done.rules) << row.overrides;
        EXPECT_EQ(done.problems.front().at.line, 9U) << row.overrides;
        EXPECT_TRUE(std::ranges::any_of(done.problems,
                                        [&](const Problem& problem) {
                                            return problem.message.find(row.says) !=
                                                   std::string::npos;
                                        }))
            << row.overrides << ": " << done.problems.front().message;
    }
}

TEST(OverrideCsv, OfManyFaultsTheFirstAreTold) {
    std::string csv = HEADER;
    for (int i = 0; i < 100; ++i) {
        csv += "x,1,1/s,,,,\n";
    }
    const Outcome done = compile(csv);
    ASSERT_FALSE(done.rules);
    ASSERT_EQ(done.problems.size(), OverrideCsv::kMaxFaults + 1);
    EXPECT_EQ(done.problems.back().message, "and 80 more such lines");
}

}  // namespace
}  // namespace sluice::override_csv_test

#undef HEADER
