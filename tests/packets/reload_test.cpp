#include "tests/packets/box.hpp"
#include "tests/packets/frame.hpp"
#include "tests/rounds.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>

// What a reload keeps (rules, section 1.5).
namespace sluice::reload_test {
namespace {

using namespace std::chrono_literals;
using test::Box;
using test::udp;

constexpr Instant kStart{1h};

std::string rules_with(std::string_view limit, std::string_view more = "") {
    return "version: 1\nrules:\n  - id: each\n    mode: enforce\n    key: [ip.src]\n" +
           std::string{more} + "    limits: [" + std::string{limit} + "]\n";
}

int passed(Box& box, int packets, Instant now) {
    const auto frame = udp().src("10.0.0.1").bytes();
    int count = 0;
    for (int i = 0; i < packets; ++i) {
        count += box.judge(frame, now).verdict == Verdict::Pass ? 1 : 0;
    }
    return count;
}

struct Change {
    std::string_view before;
    int spent;
    std::string_view after;
    int left;
};

// remaining = max(0, new - used); at one instant, so nothing comes back meanwhile.
TEST(Reload, NumbersCarryOver) {
    const Change rows[] = {
        {"{algorithm: token_bucket, rate: 10/s, burst: 10}", 4,
         "{algorithm: token_bucket, rate: 10/s, burst: 10}", 6},
        {"{algorithm: token_bucket, rate: 10/s, burst: 10}", 4,
         "{algorithm: token_bucket, rate: 10/s, burst: 20}", 16},
        {"{algorithm: token_bucket, rate: 10/s, burst: 10}", 4,
         "{algorithm: token_bucket, rate: 10/s, burst: 5}", 1},
        {"{algorithm: token_bucket, rate: 10/s, burst: 10}", 8,
         "{algorithm: token_bucket, rate: 10/s, burst: 5}", 0},
        {"{algorithm: token_bucket, rate: 10/s, burst: 10}", 4,
         "{algorithm: token_bucket, rate: 1/d, burst: 10}", 6},
        {"{algorithm: token_bucket, rate: 1/d, burst: 10}", 4,
         "{algorithm: token_bucket, rate: 1000/s, burst: 10}", 6},
        {"{algorithm: fixed_window, count: 10, window: 1d}", 4,
         "{algorithm: fixed_window, count: 12, window: 1d}", 8},
        {"{algorithm: sliding_log, count: 10, window: 1d}", 10,
         "{algorithm: sliding_log, count: 12, window: 1d}", 2},
        // Another zone, where it may be tomorrow already or still yesterday.
        {"{algorithm: fixed_window, count: 10, window: 1d, zone: Asia/Tokyo}", 4,
         "{algorithm: fixed_window, count: 10, window: 1d, zone: Europe/Moscow}", 6},
        {"{algorithm: fixed_window, count: 10, window: 1d, zone: America/New_York}", 10,
         "{algorithm: fixed_window, count: 12, window: 1d, zone: Asia/Tokyo}", 2},
        {"{algorithm: fixed_window, count: 10, window: 7d, zone: Asia/Tokyo}", 10,
         "{algorithm: fixed_window, count: 10, window: 7d, zone: America/New_York}", 0},
        {"{algorithm: fixed_window, count: 10, window: 1d}", 10,
         "{algorithm: fixed_window, count: 10, window: 1d, zone: UTC}", 10},
        // Another window is another schema: the limit starts anew.
        {"{algorithm: sliding_log, count: 10, window: 1d}", 10,
         "{algorithm: sliding_log, count: 10, window: 1h}", 10},
    };
    for (const Change& row : rows) {
        Box box{rules_with(row.before)};
        ASSERT_EQ(passed(box, row.spent, kStart), row.spent) << row.before;
        ASSERT_TRUE(box.reload(rules_with(row.after)));
        EXPECT_EQ(passed(box, 100, kStart), row.left) << row.before << " -> " << row.after;
    }
}

// 6 of 10 used; 12, then 1, then 10 again: 4 are left, whether or not a packet of the key came in
// between.
TEST(Reload, NumbersThatAreRestoredLeaveWhatWasUsed) {
    const std::string limits[] = {
        "{algorithm: token_bucket, rate: 1/d, burst: ",
        "{algorithm: token_bucket, rate: 7/d, burst: ",
        "{algorithm: leaky_bucket, rate: 1/d, queue: ",
        "{algorithm: fixed_window, window: 1d, phase: first, count: ",
        "{algorithm: sliding_window, window: 1d, count: ",
        "{algorithm: sliding_counters, window: 1d, count: ",
        "{algorithm: sliding_log, window: 1d, count: ",
    };
    for (const std::string& limit : limits) {
        for (const bool is_seen : {false, true}) {
            Box box{rules_with(limit + "10}")};
            ASSERT_EQ(passed(box, 6, kStart), 6) << limit;
            for (const std::string number : {"12", "1", "10"}) {
                ASSERT_TRUE(box.reload(rules_with(limit + number + "}"))) << limit;
                if (is_seen && number == "1") {
                    EXPECT_EQ(passed(box, 2, kStart), 0) << limit;
                }
                (void)box.judge(test::arp().bytes(), kStart);
            }
            EXPECT_EQ(passed(box, 100, kStart), 4) << limit << " seen: " << is_seen;
        }
    }
}

// The same where a key has numbers of its own for a while.
TEST(Reload, NumbersOfAKeyThatEndLeaveWhatWasUsed) {
    const std::string limits[] = {
        "{algorithm: token_bucket, rate: 1/d, burst: 10}",
        "{algorithm: sliding_log, window: 1d, count: 10}",
    };
    for (const std::string& limit : limits) {
        const std::string number =
            limit.find("burst") != std::string::npos ? "rate: 1/d, burst: 2" : "count: 2";
        const std::string own =
            "    overrides: {inline: [{key: 10.0.0.1, limits: {'1': {" + number + "}}}]}\n";
        Box box{rules_with(limit)};
        ASSERT_EQ(passed(box, 6, kStart), 6) << limit;
        ASSERT_TRUE(box.reload(rules_with(limit, own))) << limit;
        EXPECT_EQ(passed(box, 2, kStart), 0) << limit;
        ASSERT_TRUE(box.reload(rules_with(limit))) << limit;
        EXPECT_EQ(passed(box, 100, kStart), 4) << limit;
    }
}

// A debt of a tenth of a second under the old rate is one of days under the new one: nobody may
// forget it in between, and what was used is what is owed.
TEST(Reload, ADebtIsNotForgottenBeforeItIsRewritten) {
    Box box{rules_with("{algorithm: token_bucket, rate: 100/s, burst: 10}"), {}, 64};
    ASSERT_EQ(passed(box, 10, kStart), 10);
    ASSERT_TRUE(box.reload(rules_with("{algorithm: token_bucket, rate: 1/d, burst: 10}")));
    // The change takes place with the next burst; an hour of other traffic fills and sweeps.
    for (int i = 0; i < 3000; ++i) {
        const std::string source = "10.9." + std::to_string(i % 20) + "." + std::to_string(i % 250);
        (void)box.judge(udp().src(source).bytes(), kStart + i * 1s);
    }
    EXPECT_EQ(passed(box, 10, kStart + 1h), 0);
    EXPECT_EQ(passed(box, 10, kStart + 24h + 1s), 1);
}

// The other way round the debt shrinks with the rate, from the change on.
TEST(Reload, AFasterRatePaysBackFaster) {
    Box box{rules_with("{algorithm: token_bucket, rate: 1/d, burst: 10}")};
    ASSERT_EQ(passed(box, 10, kStart), 10);
    ASSERT_TRUE(box.reload(rules_with("{algorithm: token_bucket, rate: 10/s, burst: 10}")));
    (void)box.judge(test::arp().bytes(), kStart);
    EXPECT_EQ(passed(box, 10, kStart + 500ms), 5);
}

TEST(Reload, ManyChangesInARowAddUpOrAreRefused) {
    Box box{rules_with("{algorithm: token_bucket, rate: 1/d, burst: 10}")};
    ASSERT_EQ(passed(box, 10, kStart), 10);
    int accepted = 0;
    for (int i = 1; i <= 20; ++i) {
        const std::string burst = std::to_string(10 + i);
        accepted +=
            box.reload(rules_with("{algorithm: token_bucket, rate: 1/d, burst: " + burst + "}"))
                ? 1
                : 0;
        (void)box.judge(test::arp().bytes(), kStart);
    }
    // Six versions beside the present one are all that entries can tell apart.
    EXPECT_EQ(accepted, 6);
    EXPECT_EQ(passed(box, 100, kStart), 6);
}

// Once every entry has been seen, numbers can change again.
TEST(Reload, TheSweepMakesRoomForMoreChanges) {
    Box box{rules_with("{algorithm: token_bucket, rate: 1/d, burst: 10}"), {}, 64};
    ASSERT_EQ(passed(box, 10, kStart), 10);
    const int reloads = std::max(10, test::rounds(20));  // versions come round after eight
    for (int i = 1; i <= reloads; ++i) {
        const std::string burst = std::to_string(10 + i);
        ASSERT_TRUE(
            box.reload(rules_with("{algorithm: token_bucket, rate: 1/d, burst: " + burst + "}")))
            << i;
        while (box.counters().settled.read() < static_cast<std::uint64_t>(i)) {
            (void)box.judge(test::arp().bytes(), kStart);
        }
    }
    EXPECT_EQ(passed(box, 100, kStart), reloads);
}

// Whatever instant numbers change at, and again: what is said to be settled is.
TEST(Reload, WhatHasSettledIsWrittenUnderTheNumbersInForce) {
    Box box{rules_with("{algorithm: token_bucket, rate: 1/d, burst: 10}"), {}, 512};
    for (int i = 0; i < 400; ++i) {
        const std::string source =
            "10.1." + std::to_string(i / 250) + "." + std::to_string(i % 250);
        ASSERT_EQ(box.judge(udp().src(source).bytes(), kStart).verdict, Verdict::Pass);
    }
    std::mt19937_64 random{3};
    std::uint64_t changes = 0;
    std::uint64_t settled = 0;
    int times = 0;
    for (int round = 0; round < test::rounds(30); ++round) {
        const std::string burst = std::to_string(20 + round);
        changes +=
            box.reload(rules_with("{algorithm: token_bucket, rate: 1/d, burst: " + burst + "}"))
                ? 1
                : 0;
        for (std::size_t bursts = random() % 30'000; bursts != 0; --bursts) {
            box.idle(kStart);
            const std::uint64_t now = box.counters().settled.read();
            ASSERT_LE(now, changes);
            if (now == settled || now != changes) {
                continue;
            }
            settled = now;
            ++times;
            const SlotRow& row = box.set().slots[1];
            for (std::size_t at = 0; at < box.buckets().keys.slots(); ++at) {
                const Entry& entry = box.buckets().keys.at(at);
                ASSERT_TRUE(entry.empty() || entry.stamp().version == row.version);
            }
        }
    }
    EXPECT_GT(times, 1);
}

// A rule that was away while its buckets were in debt still owes when it comes back.
TEST(Reload, ARuleThatComesBackStillOwes) {
    const std::string rules = rules_with("{algorithm: token_bucket, rate: 1/d, burst: 10}");
    Box box{rules};
    ASSERT_EQ(passed(box, 10, kStart), 10);
    ASSERT_TRUE(box.reload("version: 1\nrules: []\n"));
    (void)box.judge(test::arp().bytes(), kStart);
    ASSERT_TRUE(box.reload(rules));
    EXPECT_EQ(passed(box, 10, kStart), 0);
}

}  // namespace
}  // namespace sluice::reload_test
