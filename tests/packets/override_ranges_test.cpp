#include "tests/packets/box.hpp"
#include "tests/packets/frame.hpp"
#include "tests/packets/list_files.hpp"
#include "tests/packets/override_rules.hpp"
#include "tests/rounds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

// Other numbers, or none, for networks and ranges of keys.
namespace sluice::override_ranges_test {
namespace {

using namespace std::chrono_literals;
using test::admitted_from;
using test::Box;
using test::send_from;
using test::udp;

constexpr Instant kStart{1h};

std::string rules(const std::string& overrides, const std::string& key = "ip.src",
                  const std::string& limits = test::kOverriddenLimit,
                  const std::string& more = "") {
    return test::rules_with_overrides(overrides, key, limits, more);
}

std::string burst(const std::string& key, int burst, const std::string& more = "") {
    return "{key: [\"" + key + "\"], limits: {\"1\": {burst: " + std::to_string(burst) + "}}" +
           more + "}";
}
std::string exempt(const std::string& key, const std::string& more = "") {
    return "{key: [\"" + key + "\"], exempt: true" + more + "}";
}

struct Row {
    const char* source;
    int admitted;
};
void expect_admitted(Box& box, const std::vector<Row>& rows, Instant now = kStart) {
    for (const Row& row : rows) {
        EXPECT_EQ(admitted_from(box, row.source, now), row.admitted) << row.source;
    }
}

TEST(OverrideRanges, TheMostSpecificRowOfAKeyHolds) {
    Box box{rules(burst("10.0.0.0/8", 7) + ", " + burst("10.1.0.0/16", 9) + ", " +
                  burst("10.1.2.3", 11) + ", " + burst("10.1.2.0-10.1.2.9", 13) + ", " +
                  exempt("10.1.3.0/24") + ", " + burst("2001:db8::/32", 4) + ", " +
                  exempt("2001:db8:1::5-2001:db8:1::7"))};
    expect_admitted(box, {{"10.0.0.1", 7},
                          {"10.255.255.255", 7},
                          {"10.1.0.0", 9},
                          {"10.1.255.255", 9},
                          {"10.2.0.0", 7},
                          {"10.1.2.3", 11},
                          {"10.1.2.0", 13},
                          {"10.1.2.9", 13},
                          {"10.1.2.10", 9},
                          {"10.1.3.77", 50},
                          {"9.255.255.255", 5},
                          {"11.0.0.0", 5},
                          {"2001:db8::1", 4},
                          {"2001:db9::1", 5},
                          {"2001:db8:1::4", 4},
                          {"2001:db8:1::5", 50},
                          {"2001:db8:1::7", 50},
                          {"2001:db8:1::8", 4}});
    EXPECT_EQ(box.counters(0).exempted.read(), 150U);
}

TEST(OverrideRanges, EachKeyOfARangeHasABucketOfItsOwn) {
    Box box{rules(burst("10.0.0.5-10.0.0.20", 8))};
    expect_admitted(box, {{"10.0.0.5", 8}, {"10.0.0.6", 8}, {"10.0.0.20", 8}, {"10.0.0.21", 5}});
    EXPECT_EQ(admitted_from(box, "10.0.0.5", kStart + 2s), 2);
}

TEST(OverrideRanges, OfKeysThatAreNetworks) {
    Box box{rules(burst("10.1.0.0/16", 7) + ", " + burst("10.1.4.0-10.1.6.255", 9) + ", " +
                      burst("10.1.5.0/24", 11) + ", " + burst("2001:db8::/48", 8),
                  "prefix(ip.src, 24|64)")};
    expect_admitted(box, {{"10.1.0.1", 7},
                          {"10.1.0.2", 0},
                          {"10.1.4.1", 9},
                          {"10.1.5.1", 11},
                          {"10.1.6.255", 9},
                          {"10.1.7.0", 7},
                          {"10.2.0.0", 5},
                          {"2001:db8:0:1::1", 8},
                          {"2001:db8:0:1::2", 0},
                          {"2001:db8:1:1::2", 5}});
}

// A row that has ended is as if it were not there: then the next wider one holds.
TEST(OverrideRanges, TheyEndByThemselves) {
    const std::string day = ", until: 1970-01-01";
    Box box{rules(burst("10.0.0.0/8", 7) + ", " + burst("10.1.0.0/16", 9, day) + ", " +
                  exempt("10.1.1.0/24", ", until: '1970-01-01T12:00:00Z'") + ", " +
                  burst("10.1.1.1", 20, ", until: '1970-01-01T06:00:00Z'") + ", " +
                  exempt("192.0.2.0/24", day))};
    expect_admitted(box, {{"10.1.1.1", 20}, {"10.1.1.2", 50}, {"10.1.2.1", 9}, {"10.2.0.1", 7}},
                    Instant{6h - 1s});
    expect_admitted(box, {{"10.1.1.1", 50}, {"10.1.1.2", 50}}, Instant{6h});
    expect_admitted(box, {{"10.1.1.1", 9}, {"10.1.1.2", 9}, {"192.0.2.9", 50}}, Instant{12h});
    expect_admitted(box, {{"10.1.1.1", 7}, {"10.1.1.2", 7}, {"10.1.2.1", 7}, {"192.0.2.9", 5}},
                    Instant{24h});
}

// A limit has the numbers of the smallest row that has some for it; a key with numbers of its own
// is not exempt with its network.
TEST(OverrideRanges, ALimitHasTheNumbersOfTheSmallestRowForIt) {
    Box box{
        rules("{key: [10.0.0.0/8], limits: {\"1\": {burst: 7}, \"2\": {burst: 30}}}, "
              "{key: [10.1.0.0/16], limits: {\"1\": {burst: 40}}}, "
              "{key: [10.1.1.0/24], exempt: true}, "
              "{key: [10.1.1.1], limits: {\"1\": {burst: 9}}}",
              "ip.src",
              "{algorithm: token_bucket, rate: 1/s, burst: 5}, "
              "{algorithm: token_bucket, rate: 1/s, burst: 6}")};
    expect_admitted(
        box,
        {{"10.0.0.1", 7}, {"10.1.0.1", 30}, {"10.1.1.2", 50}, {"10.1.1.1", 6}, {"11.0.0.1", 5}});
}

KeySetting set_for(const std::string& key, KeySetting::What what) {
    return {.rule = "r", .key = key, .what = what, .limit = "1", .is_new = true};
}

TEST(OverrideRanges, WhatAnOperatorSetsForAKeyGoesBeforeItsNetworks) {
    using What = KeySetting::What;
    const std::string file = exempt("10.0.0.0/8") + ", " + burst("192.0.2.0/24", 9);
    Box box{rules(file)};
    KeySettings keys{set_for("10.0.0.1", What::Numbers), set_for("10.0.0.2", What::Banned),
                     set_for("192.0.2.1", What::Exempt), set_for("192.0.2.2", What::Numbers)};
    keys[0].burst = "8";
    keys[3].burst = "3";
    ASSERT_TRUE(box.reload(rules(file), keys));
    EXPECT_EQ(send_from(box, "10.0.0.2", kStart).reason, Reason::Banned);
    expect_admitted(box, {{"10.0.0.1", 8}, {"10.0.0.3", 50}, {"192.0.2.1", 50}, {"192.0.2.2", 3}});
    ASSERT_TRUE(box.reload(rules(file)));
    expect_admitted(box, {{"10.0.0.1", 50}, {"10.0.0.2", 50}, {"192.0.2.1", 9}});
    EXPECT_EQ(admitted_from(box, "192.0.2.2", kStart), 6);  // of nine three are used
}

// The smaller of the two: of one size the ban.
TEST(OverrideRanges, ABanOfANetworkAndARangeThatIsExempt) {
    const ListReader files =
        test::lists_of({{"o.csv",
                         "key,limit,rate,burst,count,expires,reason,ban\n"
                         "10.0.0.0/8,,,,,,,yes\n10.1.0.0/16,exempt,,,,,,\n10.1.1.0/24,,,,,,,yes\n"
                         "10.1.1.5,exempt,,,,,,\n192.0.2.0/24,exempt,,,,,,\n"
                         "192.0.2.0/24,,,,,1970-01-01,,yes\n10.2.0.0/16,1,,9,,,,\n"}});
    Box box{rules("") + "    overrides: {file: o.csv}\n", {}, 4096, &files};
    const auto reason = [&](const char* source, Instant now = kStart) {
        return send_from(box, source, now).reason;
    };
    EXPECT_EQ(reason("10.0.0.1"), Reason::Banned);
    EXPECT_EQ(reason("10.1.0.1"), Reason::Exempt);
    EXPECT_EQ(reason("10.1.1.1"), Reason::Banned);
    EXPECT_EQ(reason("10.1.1.5"), Reason::Exempt);
    EXPECT_EQ(reason("10.2.0.1"), Reason::Banned);
    EXPECT_EQ(reason("192.0.2.1"), Reason::Banned);
    EXPECT_EQ(reason("192.0.2.1", Instant{24h}), Reason::Exempt);
}

// Every kind of limit; each change of a network is one for the keys inside.
TEST(OverrideRanges, AReloadKeepsWhatKeysInsideHaveUsed) {
    const std::string limits[] = {
        "{algorithm: token_bucket, rate: 1/h, burst: 5}",
        "{algorithm: leaky_bucket, rate: 1/h, queue: 5}",
        "{algorithm: fixed_window, count: 5, window: 1h}",
        "{algorithm: sliding_window, count: 5, window: 1h}",
        "{algorithm: sliding_counters, count: 5, window: 1h}",
        "{algorithm: sliding_log, count: 5, window: 1h}",
    };
    for (const std::string& limit : limits) {
        const std::string number = limit.find("token") != std::string::npos   ? "burst"
                                   : limit.find("leaky") != std::string::npos ? "queue"
                                                                              : "count";
        const auto with = [&](const std::string& key, int count) {
            return rules("{key: [" + key + "], limits: {\"1\": {" + number + ": " +
                             std::to_string(count) + "}}}",
                         "ip.src", limit);
        };
        Box box{with("10.0.0.0/8", 9)};
        EXPECT_EQ(admitted_from(box, "10.0.0.1", kStart), 9) << limit;
        EXPECT_EQ(admitted_from(box, "11.0.0.1", kStart), 5) << limit;
        ASSERT_TRUE(box.reload(with("10.0.0.0/8", 12)));
        EXPECT_EQ(admitted_from(box, "10.0.0.1", kStart + 1s), 3) << limit;
        ASSERT_TRUE(box.reload(with("10.0.0.0/8", 2)));
        EXPECT_EQ(admitted_from(box, "10.0.0.1", kStart + 1s), 0) << limit;
        // The same numbers, of a range now, and of the key itself.
        ASSERT_TRUE(box.reload(with("10.0.0.0-10.0.0.9", 14)));
        EXPECT_EQ(admitted_from(box, "10.0.0.1", kStart + 2s), 2) << limit;
        ASSERT_TRUE(box.reload(with("10.0.0.1", 15)));
        EXPECT_EQ(admitted_from(box, "10.0.0.1", kStart + 3s), 1) << limit;
        // A key that had no numbers of its own: five are used of six.
        ASSERT_TRUE(box.reload(with("11.0.0.0/8", 6)));
        EXPECT_EQ(admitted_from(box, "11.0.0.1", kStart + 4s), 1) << limit;
        EXPECT_EQ(admitted_from(box, "10.0.0.1", kStart + 4s), 0) << limit;
        ASSERT_TRUE(box.reload(rules("", "ip.src", limit)));
        EXPECT_EQ(admitted_from(box, "10.0.0.1", kStart + 5s), 0) << limit;
        EXPECT_EQ(admitted_from(box, "11.0.0.1", kStart + 5s), 0) << limit;
    }
}

// Windows are forgiven down to the largest count that a network may give a key.
TEST(OverrideRanges, WindowsAreForgivenByTheLargestCount) {
    const std::string limit = "{algorithm: fixed_window, count: 5, window: 1h}";
    const auto with = [&](int count) {
        return rules("{key: [10.0.0.0/8], limits: {\"1\": {count: " + std::to_string(count) + "}}}",
                     "ip.src", limit);
    };
    Box box{with(20)};
    EXPECT_EQ(admitted_from(box, "10.0.0.1", kStart), 20);
    ASSERT_TRUE(box.forgive(with(8)));
    EXPECT_EQ(admitted_from(box, "10.0.0.1", kStart + 1s), 0);
    ASSERT_TRUE(box.reload(with(9)));
    EXPECT_EQ(admitted_from(box, "10.0.0.1", kStart + 1s), 1);
}

IpAddress v4_address(std::uint32_t number) {
    IpAddress address;
    for (unsigned at = 0; at < 4; ++at) {
        address.bytes[at] = static_cast<std::byte>(number >> (24 - 8 * at) & 0xFF);
    }
    return address;
}

// Random rows beside a look-up that goes over all of them, under numbers that change.
struct Said {
    std::uint32_t first = 0;
    std::uint32_t last = 0;
    int burst = 0;  // 0: exempt
};

TEST(OverrideRanges, AgreeWithALookUpThatGoesOverAll) {
    const auto seeds = static_cast<std::uint64_t>(std::max(test::rounds(20), 2));
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        std::mt19937_64 random{seed};
        std::vector<Said> rows;
        std::string text;
        for (int i = 0; i < 40; ++i) {
            const unsigned length = 24 + static_cast<unsigned>(random() % 9);
            const std::uint32_t rest = length == 32 ? 0 : (1U << (32 - length)) - 1;
            const std::uint32_t first =
                (0x0A00'0000U + static_cast<std::uint32_t>(random() % 512)) & ~rest;
            Said row{first, first + rest, static_cast<int>(random() % 12)};
            if (std::any_of(rows.begin(), rows.end(), [&](const Said& one) {
                    return one.first == row.first && one.last == row.last;
                })) {
                continue;
            }
            rows.push_back(row);
            const IpAddress address = v4_address(first);
            const std::string key =
                to_text(IpPrefix{IpVersion::V4, address, static_cast<std::uint8_t>(length)});
            text +=
                (text.empty() ? "" : ", ") + (row.burst == 0 ? exempt(key) : burst(key, row.burst));
        }
        Box box{rules(text)};
        for (std::uint32_t at = 0; at < 512; ++at) {
            const std::uint32_t source = 0x0A00'0000U + at;
            const Said* smallest = nullptr;
            for (const Said& row : rows) {
                if (row.first <= source && source <= row.last &&
                    (smallest == nullptr ||
                     row.last - row.first < smallest->last - smallest->first)) {
                    smallest = &row;
                }
            }
            const int expected = smallest == nullptr    ? 5
                                 : smallest->burst == 0 ? 20
                                                        : smallest->burst;
            ASSERT_EQ(admitted_from(box, to_text(IpVersion::V4, v4_address(source)), kStart, 20),
                      expected)
                << "seed " << seed << " source " << at;
        }
    }
}

}  // namespace
}  // namespace sluice::override_ranges_test
