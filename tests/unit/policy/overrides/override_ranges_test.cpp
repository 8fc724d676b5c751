#include "lib/policy/compile.hpp"
#include "lib/policy/overrides/named_ranges.hpp"
#include "tests/unit/policy/outcome.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

// Networks and ranges as keys of overrides: how they are read, and what is wrong with them.
namespace sluice::override_ranges_test {
namespace {

using test::Outcome;

#define HEADER "key,limit,rate,burst,count,expires,reason\n"

Outcome compile(const std::string& csv, const std::string& inline_rows = "",
                const std::string& key = "[ip.src]") {
    const ListReader files = [&](const std::string& path) -> Result<ListFile> {
        return ListFile{"/etc/" + path, std::make_shared<const std::string>(csv)};
    };
    const std::string text =
        "version: 1\nrules:\n  - id: r\n    mode: enforce\n    key: " + key +
        "\n    limits: [{algorithm: token_bucket, rate: 50/s, burst: 200}]\n    overrides:\n" +
        (csv.empty() ? "" : "      file: o.csv\n") +
        (inline_rows.empty() ? "" : "      inline:\n" + inline_rows);
    return test::compile({"rules", text, &files}, Purpose::Enforce);
}

std::string first_problem(const Outcome& done) {
    const auto& one = done.problems.front();
    return one.file + ":" + std::to_string(one.at.line) + ":" + std::to_string(one.at.column) +
           ": " + one.message;
}

TEST(OverrideRangeRows, NetworksAndRangesBesideKeys) {
    const Outcome done = compile(HEADER
                                 "10.0.0.0/8,1,500/s,,,2027-12-31,contract 17\n"
                                 "10.0.0.7,1,,9,,,\n"
                                 "10.0.0.5-10.0.0.20,exempt,,,,,\n"
                                 "2001:db8::/32,1,,300,,,\n"
                                 "10.0.0.9-10.0.0.9,1,,8,,,one key\n");
    ASSERT_TRUE(done.rules) << first_problem(done);
    const Overrides& all = *done.rules->set.rules[0].overrides;
    EXPECT_EQ(all.keys[0].rows.size(), 2U);
    ASSERT_EQ(all.ranges[0].size(), 3U);
    EXPECT_EQ(all.ranges[0][0].first, Wide{0x0A00'0000});
    EXPECT_EQ(all.ranges[0][0].last, Wide{0x0AFF'FFFF});
    EXPECT_TRUE(all.plans[all.ranges[0][1].plan].exempt);
    EXPECT_EQ(all.ranges[0][2].version, 6);
    EXPECT_TRUE(done.rules->rules[0].settings.back().value.starts_with(
        "2 keys, 3 networks and ranges, sum "));
    const NamedRanges& named = *done.rules->rules[0].ranges;
    ASSERT_EQ(named.size(), 3U);
    EXPECT_EQ(to_text(named[0].range), "10.0.0.0/8");
    EXPECT_EQ(to_text(named[1].range), "10.0.0.5-10.0.0.20");
    EXPECT_EQ(named[0].place.line, 2U);
    EXPECT_EQ(*named[0].reason, "contract 17");
    const auto around = ranges_around(named, 0, all.keys[0].key(0));
    ASSERT_EQ(around.size(), 2U);
    EXPECT_EQ(around[0], &named[1]);
    EXPECT_EQ(around[1], &named[0]);
}

TEST(OverrideRangeRows, OfAnyKeyThatIsOneAddress) {
    for (const char* key : {"[ip.src]", "[ip.dst]", "[client.ip]", "[\"prefix(ip.src, 24|64)\"]"}) {
        const Outcome done = compile(HEADER "10.0.0.0/8,1,,9,,,\n", "", key);
        ASSERT_TRUE(done.rules) << key << first_problem(done);
        EXPECT_EQ(done.rules->set.rules[0].overrides->ranges[0].size(), 1U) << key;
    }
}

// A range of a single key is that key; a network of the keys' own length too.
TEST(OverrideRangeRows, ARangeOfOneKeyIsTheKey) {
    const Outcome done = compile(HEADER "10.0.4.0-10.0.4.255,1,,9,,,\n10.0.5.0/24,1,,9,,,\n", "",
                                 "[\"prefix(ip.src, 24|64)\"]");
    ASSERT_TRUE(done.rules) << first_problem(done);
    EXPECT_EQ(done.rules->set.rules[0].overrides->keys[0].rows.size(), 2U);
    EXPECT_TRUE(done.rules->set.rules[0].overrides->ranges.empty());
}

struct Wrong {
    std::string csv;
    std::string problem;
    std::string key = "[ip.src]";
};

TEST(OverrideRangeRows, WhatIsWrongIsToldWithItsPlace) {
    const std::string by24 = "[\"prefix(ip.src, 24|64)\"]";
    const Wrong rows[] = {
        {"10.0.0.5-10.0.0.20,1,,9,,,\n10.0.0.10-10.0.0.30,1,,8,,,\n",
         "/etc/o.csv:3:1: 10.0.0.5-10.0.0.20 and 10.0.0.10-10.0.0.30 overlap, and neither lies in "
         "the other; the first is on line 2"},
        {"10.0.0.10-10.0.1.30,exempt,,,,,\n10.0.0.0/24,1,,8,,,\n",
         "/etc/o.csv:3:1: 10.0.0.0/24 and 10.0.0.10-10.0.1.30 overlap, and neither lies in the "
         "other; the first is on line 2"},
        {"10.0.0.0/8,1,,9,,,\n10.0.0.1,1,,9,,,\n10.0.0.0/8,1,,9,,,\n",
         "/etc/o.csv:4:1: the key has the limit `1` twice; the first is on line 2"},
        {"10.0.0.0/8,1,,9,,,\n10.0.0.0-10.255.255.255,exempt,,,,,\n",
         "/etc/o.csv:3:1: the key is exempt, and has numbers or is so twice; the first is on line "
         "2"},
        {"10.0.0.1/8,1,,9,,,\n",
         "/etc/o.csv:2:1: `10.0.0.1/8` has host bits set; the network is 10.0.0.0/8"},
        {"10.0.0.9-10.0.0.1,1,,9,,,\n",
         "/etc/o.csv:2:1: `10.0.0.9-10.0.0.1` ends before it begins"},
        {"10.0.0.9-2001:db8::1,1,,9,,,\n",
         "/etc/o.csv:2:1: `10.0.0.9-2001:db8::1` begins and ends in other versions of IP"},
        {"10.0.0.9-10,1,,9,,,\n",
         "/etc/o.csv:2:1: `10.0.0.9-10` is no range: it has two addresses, such as "
         "192.0.2.5-192.0.2.20"},
        {"10.0.0.0/28,1,,9,,,\n",
         "/etc/o.csv:2:1: `10.0.0.0/28` is narrower than a key: the rule groups by networks of /24",
         by24},
        {"10.0.0.0-10.0.4.7,1,,9,,,\n",
         "/etc/o.csv:2:1: `10.0.0.0-10.0.4.7` cuts a key: the rule groups by networks of /24",
         by24},
        {"10.0.0.0/8|443,1,,9,,,\n",
         "/etc/o.csv:2:1: `10.0.0.0/8|443` is no single key, and networks and ranges stand for "
         "keys of one address alone; this rule groups by ip.src|l4.dport",
         "[ip.src, l4.dport]"},
        {"10.0.0.0/33,1,,9,,,\n",
         "/etc/o.csv:2:1: expected an address or network such as 192.0.2.0/24, found "
         "`10.0.0.0/33`"},
        {"10.0.0.0/8,2,,9,,,\n", "/etc/o.csv:2:12: the rule has no limit `2`"},
    };
    for (const Wrong& row : rows) {
        const Outcome done = compile(HEADER + row.csv, "", row.key);
        ASSERT_FALSE(done.problems.empty()) << row.csv;
        EXPECT_EQ(first_problem(done).substr(0, row.problem.size()), row.problem);
    }
}

TEST(OverrideRangeRows, InTheRuleFileTheyHaveLineAndColumn) {
    const Outcome twice = compile("",
                                  "        - {key: [10.0.0.0/8], exempt: true}\n"
                                  "        - {exempt: true, key: [10.0.0.0/8]}\n");
    ASSERT_FALSE(twice.problems.empty());
    EXPECT_EQ(first_problem(twice),
              "rules:10:31: the key is exempt, and has numbers or is so twice; the first is on "
              "line 9");
    const Outcome beside = compile(HEADER "10.0.0.10-10.0.1.30,exempt,,,,,\n",
                                   "        - {key: [10.0.0.0/24], exempt: true}\n");
    ASSERT_FALSE(beside.problems.empty());
    EXPECT_EQ(first_problem(beside),
              "/etc/o.csv:2:1: 10.0.0.0/24 and 10.0.0.10-10.0.1.30 overlap, and neither lies in "
              "the other; the first is on line 10 of the rule file");
}

TEST(OverrideRangeRows, TheyLieInOneAnotherOnlySoDeep) {
    std::string csv = HEADER;
    for (unsigned i = 0; i < kMaxNestedRanges + 1; ++i) {
        csv += "10.0." + std::to_string(i) + ".0-10.1." + std::to_string(255 - i) + ".0,1,,9,,,\n";
    }
    const Outcome done = compile(csv);
    ASSERT_FALSE(done.problems.empty());
    EXPECT_EQ(first_problem(done),
              "/etc/o.csv:34:1: 10.0.32.0-10.1.223.0: at most 32 networks and ranges lie in one "
              "another; the first is on line 2");
}

// The key has more addresses than they name.
TEST(OverrideRangeRows, SingleAddressesUnderAWiderKeyAreRefused) {
    const std::string key = R"y(["prefix(ip.src, 24|64)"])y";
    const Outcome file = compile(HEADER "10.0.0.7,exempt,,,,,\n10.0.1.0/24,exempt,,,,,\n", "", key);
    EXPECT_FALSE(file.rules);
    EXPECT_EQ(first_problem(file),
              "/etc/o.csv:2:1: `10.0.0.7` is narrower than a key: the rule groups by networks of "
              "/24; all of it is `10.0.0.0/24`");
    const Outcome rows = compile("", "        - {key: [\"2001:db8::7\"], exempt: true}\n", key);
    EXPECT_FALSE(rows.rules);
    EXPECT_NE(first_problem(rows).find("all of it is `2001:db8::/64`"), std::string::npos);
    EXPECT_TRUE(compile(HEADER "10.0.0.0/24,exempt,,,,,\n", "", key).rules);
    const std::string pair = R"y(["prefix(ip.src, 24|64)", l4.dport])y";
    EXPECT_FALSE(compile(HEADER "10.0.0.7|80,exempt,,,,,\n", "", pair).rules);
    EXPECT_TRUE(compile(HEADER "10.0.0.0/24|80,exempt,,,,,\n", "", pair).rules);
}

}  // namespace
}  // namespace sluice::override_ranges_test
