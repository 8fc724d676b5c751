#include "lib/engine/key/key_question.hpp"

#include "lib/bucket/table/previous_tables.hpp"
#include "lib/policy/keys/key_text.hpp"
#include "tests/packets/box.hpp"
#include "tests/packets/frame.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

// What is said about single keys while packets come.
namespace sluice::key_question_test {
namespace {

using namespace std::chrono_literals;
using test::Box;
using test::udp;

constexpr Instant kStart{1h};

#define RULE "version: 1\nrules:\n  - id: r\n    mode: enforce\n"
#define BUCKET "    limits: [{algorithm: token_bucket, rate: 1/s, burst: 5}]\n"

Decision send(Box& box, const std::string& source, Instant now) {
    return box.judge(udp().src(source).bytes(), now);
}

KeyAnswer ask(Box& box, KeyAction action, const std::string& key, Instant now,
              std::uint64_t units = 0) {
    const Result<ReadKey> read = box.read_key(key);
    if (!read) {
        throw std::runtime_error(read.error().what);
    }
    return box.ask({.action = action,
                    .load = box.set().load,
                    .rule = 0,
                    .key = read->index,
                    .bytes = read->bytes,
                    .units = Units{units}},
                   now);
}

TEST(KeyQuestion, ShowsResetsAndGrants) {
    Box box{RULE "    key: [ip.src]\n" BUCKET};
    KeyAnswer answer = ask(box, KeyAction::Show, "10.0.0.1", kStart);
    ASSERT_TRUE(answer.known);
    ASSERT_EQ(answer.count, 1);
    EXPECT_FALSE(answer.buckets[0].own);
    EXPECT_EQ(answer.buckets[0].remaining, Units{5});
    for (int i = 0; i < 5; ++i) {
        EXPECT_EQ(send(box, "10.0.0.1", kStart).verdict, Verdict::Pass);
    }
    EXPECT_EQ(send(box, "10.0.0.1", kStart).verdict, Verdict::Drop);
    answer = ask(box, KeyAction::Show, "10.0.0.1", kStart + 500ms);
    EXPECT_TRUE(answer.buckets[0].own);
    EXPECT_EQ(answer.buckets[0].remaining, Units{0});
    EXPECT_EQ(answer.buckets[0].most, Units{5});
    EXPECT_EQ(answer.buckets[0].wait, 500ms);
    answer = ask(box, KeyAction::Grant, "10.0.0.1", kStart + 500ms, 2);
    EXPECT_EQ(answer.buckets[0].before, Units{0});
    EXPECT_EQ(answer.buckets[0].remaining, Units{2});
    EXPECT_EQ(send(box, "10.0.0.1", kStart + 500ms).verdict, Verdict::Pass);
    EXPECT_EQ(send(box, "10.0.0.1", kStart + 500ms).verdict, Verdict::Pass);
    EXPECT_EQ(send(box, "10.0.0.1", kStart + 500ms).verdict, Verdict::Drop);
    answer = ask(box, KeyAction::Reset, "10.0.0.1", kStart + 500ms);
    EXPECT_FALSE(answer.buckets[0].own);
    EXPECT_EQ(answer.buckets[0].before, Units{0});
    EXPECT_EQ(answer.buckets[0].remaining, Units{5});
    EXPECT_EQ(box.buckets().registry.entries_of(1).read(), 0U);
    for (int i = 0; i < 5; ++i) {
        EXPECT_EQ(send(box, "10.0.0.1", kStart + 500ms).verdict, Verdict::Pass);
    }
    EXPECT_EQ(send(box, "10.0.0.1", kStart + 500ms).verdict, Verdict::Drop);
}

// What tables of another size hold is shown before a packet of the key has taken it over as its
// first one then meets it, and in how long it is over.
TEST(KeyQuestion, WhatWasCarriedOverIsShownAsItsNextPacketMeetsIt) {
    struct Case {
        const char* limit;
        Nanoseconds fresh;
    };
    for (const auto& [limit, fresh] :
         {Case{"token_bucket, rate: 1/m, burst: 5", 290s},
          Case{"fixed_window, count: 5, window: 5m, phase: first", 290s},
          Case{"sliding_window, count: 5, window: 5m", 590s},
          Case{"sliding_log, count: 5, window: 5m", 290s}}) {
        SCOPED_TRACE(limit);
        const std::string rules =
            std::string{RULE "    key: [ip.src]\n    limits: [{algorithm: "} + limit + "}]\n";
        Box earlier{rules};
        for (int i = 0; i < 5; ++i) {
            EXPECT_EQ(send(earlier, "10.0.0.1", kStart).verdict, Verdict::Pass);
        }
        std::vector<PreviousTables::Store> stores;
        stores.push_back({std::move(earlier.buckets()), 0});
        PreviousTables previous{std::move(stores), kStart + 1h};
        Box box{rules, BucketStore{1'000, 1'000}};
        box.buckets().set_previous_tables(&previous, 0);

        const Instant later = kStart + 10s;
        const KeyBucket carried = ask(box, KeyAction::Show, "10.0.0.1", later).buckets[0];
        EXPECT_TRUE(carried.carried);
        EXPECT_FALSE(carried.own);
        EXPECT_EQ(carried.remaining, Units{0});
        EXPECT_EQ(carried.fresh, fresh);
        EXPECT_GT(carried.wait, 0s);
        EXPECT_LE(carried.wait, fresh);
        const std::size_t lines = box.buckets().registry.pool().free();
        (void)ask(box, KeyAction::Show, "10.0.0.1", later);
        EXPECT_EQ(box.buckets().registry.pool().free(), lines) << "to show takes nothing";
        EXPECT_FALSE(ask(box, KeyAction::Show, "10.0.0.2", later).buckets[0].carried);

        EXPECT_EQ(send(box, "10.0.0.1", later).verdict, Verdict::Drop);
        const KeyBucket taken = ask(box, KeyAction::Show, "10.0.0.1", later).buckets[0];
        EXPECT_FALSE(taken.carried);
        EXPECT_TRUE(taken.own);
        EXPECT_EQ(taken.remaining, Units{0});
        EXPECT_GE(taken.fresh, fresh);
    }
}

// Tables of another size are only read: a grant takes over what the key owes in them, and gives
// some of that back, once.
TEST(KeyQuestion, AGrantGivesBackWhatWasCarriedOver) {
    for (const char* limit :
         {"token_bucket, rate: 1/d, burst: 5", "leaky_bucket, rate: 1/d, queue: 5",
          "fixed_window, count: 5, window: 1d, phase: first",
          "sliding_window, count: 5, window: 1d",
          "sliding_counters, count: 5, window: 1d, buckets: 4",
          "sliding_log, count: 5, window: 1d"}) {
        SCOPED_TRACE(limit);
        const std::string rules =
            std::string{RULE "    key: [ip.src]\n    limits: [{algorithm: "} + limit + "}]\n";
        Box earlier{rules};
        for (const char* source : {"10.0.0.1", "10.0.0.2"}) {
            for (int i = 0; i < 6; ++i) {
                (void)send(earlier, source, kStart);
            }
        }
        std::vector<PreviousTables::Store> stores;
        stores.push_back({std::move(earlier.buckets()), 0});
        PreviousTables previous{std::move(stores), kStart + 48h};
        Box box{rules, BucketStore{1'000, 1'000}};
        box.buckets().set_previous_tables(&previous, 0);

        const KeyBucket granted = ask(box, KeyAction::Grant, "10.0.0.1", kStart, 2).buckets[0];
        EXPECT_TRUE(granted.own);
        EXPECT_FALSE(granted.carried);
        EXPECT_EQ(granted.before, Units{0});
        EXPECT_EQ(granted.remaining, Units{2});
        EXPECT_EQ(ask(box, KeyAction::Show, "10.0.0.1", kStart).buckets[0].remaining, Units{2});
        int passed = 0;
        for (int i = 0; i < 5; ++i) {
            passed += send(box, "10.0.0.1", kStart).verdict == Verdict::Pass ? 1 : 0;
        }
        EXPECT_EQ(passed, 2);
        EXPECT_EQ(ask(box, KeyAction::Show, "10.0.0.2", kStart).buckets[0].remaining, Units{0})
            << "other keys owe on";
        EXPECT_FALSE(ask(box, KeyAction::Grant, "10.0.0.3", kStart, 2).buckets[0].own)
            << "a key that owes nothing takes no place";
    }
}

// No more than full, however much is granted; other keys do not notice.
TEST(KeyQuestion, AGrantFillsAtMost) {
    Box box{RULE "    key: [ip.src]\n" BUCKET};
    EXPECT_EQ(send(box, "10.0.0.1", kStart).verdict, Verdict::Pass);
    EXPECT_EQ(send(box, "10.0.0.2", kStart).verdict, Verdict::Pass);
    const KeyAnswer answer =
        ask(box, KeyAction::Grant, "10.0.0.1", kStart, std::numeric_limits<std::uint64_t>::max());
    EXPECT_EQ(answer.buckets[0].remaining, Units{5});
    EXPECT_EQ(ask(box, KeyAction::Show, "10.0.0.2", kStart).buckets[0].remaining, Units{4});
}

TEST(KeyQuestion, OfAnotherSetNothingIsKnown) {
    Box box{RULE "    key: [ip.src]\n" BUCKET};
    EXPECT_FALSE(box.ask({.load = box.set().load + 1}, kStart).known);
    EXPECT_FALSE(box.ask({.load = box.set().load, .rule = 1}, kStart).known);
}

TEST(KeyQuestion, EachTierHasItsLimitsAndOneCanBeMeant) {
    Box box{RULE
            "    tiers:\n"
            "      - {key: [ip.src], limits: [{algorithm: token_bucket, rate: 1/s, burst: 5}]}\n"
            "      - {key: [l4.dport], limits: [{algorithm: token_bucket, rate: 1/s, burst: 7}, "
            "{algorithm: sliding_log, count: 9, window: 1m}]}\n"};
    EXPECT_EQ(box.judge(udp().src("10.0.0.1").dport(53).bytes(), kStart).verdict, Verdict::Pass);
    KeyAnswer answer = ask(box, KeyAction::Show, "53", kStart);
    ASSERT_EQ(answer.count, 2);
    EXPECT_EQ(answer.buckets[0].limit, 1);
    EXPECT_EQ(answer.buckets[0].remaining, Units{6});
    EXPECT_EQ(answer.buckets[1].remaining, Units{8});
    const Result<ReadKey> read = box.read_key("53");
    answer = box.ask({.action = KeyAction::Reset,
                      .load = box.set().load,
                      .rule = 0,
                      .key = 1,
                      .bytes = read->bytes,
                      .limits = 1U << 2},
                     kStart);
    ASSERT_EQ(answer.count, 1);
    answer = ask(box, KeyAction::Show, "53", kStart);
    EXPECT_EQ(answer.buckets[0].remaining, Units{6});
    EXPECT_FALSE(answer.buckets[1].own);
}

// A key without a place of its own tells what wider keys owe for it.
TEST(KeyQuestion, ACoarsenedKeyTellsItsStep) {
    Box box{RULE
            "    key: [ip.src]\n    on_full: {coarsen: {factor: 4}}\n"
            "    limits: [{algorithm: token_bucket, rate: 1/d, burst: 2}]\n",
            {},
            1};
    for (int i = 1; i <= 5; ++i) {
        (void)send(box, "192.0." + std::to_string(i) + ".1", kStart);
    }
    const KeyAnswer own = ask(box, KeyAction::Show, "192.0.1.1", kStart);
    EXPECT_TRUE(own.buckets[0].own);
    for (int i = 0; i < 6; ++i) {
        EXPECT_EQ(send(box, "192.0.5.2", kStart).verdict, Verdict::Pass);
    }
    const KeyAnswer parent = ask(box, KeyAction::Show, "192.0.5.1", kStart);
    EXPECT_FALSE(parent.buckets[0].own);
    EXPECT_EQ(parent.buckets[0].aggregation_level, 1);
    EXPECT_EQ(parent.buckets[0].remaining, Units{1});  // 8 in all, 7 spent
    const KeyAnswer other = ask(box, KeyAction::Show, "192.0.9.1", kStart);
    EXPECT_EQ(other.buckets[0].aggregation_level, 0);
}

// Four keys fill the table; each of `count` packets is of a new key of 192.0.5.0/24.
void fill_and_coarsen(Box& box, int count) {
    for (int i = 1; i <= 4; ++i) {
        (void)send(box, "192.0." + std::to_string(i) + ".1", kStart);
    }
    for (int i = 0; i < count; ++i) {
        (void)send(box, "192.0.5." + std::to_string(100 + i), kStart);
    }
}

int passed(Box& box, const std::string& source, int packets) {
    int count = 0;
    for (int i = 0; i < packets; ++i) {
        count += send(box, source, kStart).verdict == Verdict::Pass ? 1 : 0;
    }
    return count;
}

// The key itself gets what it was promised, and its network no more than that.
TEST(KeyQuestion, AResetOfACoarsenedKeyGivesItsNetworkWhatTheKeyIsShortOf) {
    for (const char* limit : {"{algorithm: token_bucket, rate: 1/d, burst: 2}",
                              "{algorithm: leaky_bucket, rate: 1/d, queue: 2}",
                              "{algorithm: fixed_window, count: 2, window: 1d, phase: first}",
                              "{algorithm: sliding_window, count: 2, window: 1d}",
                              "{algorithm: sliding_counters, count: 2, window: 1d, buckets: 4}",
                              "{algorithm: sliding_log, count: 2, window: 1d}"}) {
        SCOPED_TRACE(limit);
        Box box{RULE "    key: [ip.src]\n    on_full: {coarsen: {factor: 4}}\n    limits: [" +
                    std::string{limit} + "]\n",
                BucketStore{1, 64}};
        fill_and_coarsen(box, 20);  // 8 of them pass
        ASSERT_EQ(passed(box, "192.0.5.1", 1), 0);
        const KeyBucket reset = ask(box, KeyAction::Reset, "192.0.5.1", kStart).buckets[0];
        EXPECT_FALSE(reset.own);
        EXPECT_EQ(reset.aggregation_level, 1);
        EXPECT_EQ(reset.before, Units{0});
        EXPECT_EQ(reset.remaining, Units{2});
        EXPECT_EQ(reset.given_wider, Units{2});
        EXPECT_EQ(passed(box, "192.0.5.1", 5), 2);
        EXPECT_EQ(passed(box, "192.0.5.2", 5), 0);
    }
}

TEST(KeyQuestion, AResetTwiceOverGivesNothingTwice) {
    Box box{RULE
            "    key: [ip.src]\n    on_full: {coarsen: {factor: 4}}\n"
            "    limits: [{algorithm: token_bucket, rate: 1/d, burst: 2}]\n",
            {},
            1};
    fill_and_coarsen(box, 8);
    EXPECT_EQ(ask(box, KeyAction::Reset, "192.0.5.1", kStart).buckets[0].given_wider, Units{2});
    EXPECT_EQ(ask(box, KeyAction::Reset, "192.0.5.1", kStart).buckets[0].given_wider, Units{0});
    EXPECT_EQ(ask(box, KeyAction::Reset, "192.0.5.7", kStart).buckets[0].given_wider, Units{0});
    EXPECT_EQ(ask(box, KeyAction::Show, "192.0.5.1", kStart).buckets[0].remaining, Units{2});
    EXPECT_EQ(passed(box, "192.0.5.1", 9), 2);
}

// As many units as were asked for, and no more than full.
TEST(KeyQuestion, AGrantToACoarsenedKeyGoesToItsNetwork) {
    Box box{RULE
            "    key: [ip.src]\n    on_full: {coarsen: {factor: 4}}\n"
            "    limits: [{algorithm: token_bucket, rate: 1/d, burst: 2}]\n",
            {},
            1};
    fill_and_coarsen(box, 8);
    KeyBucket granted = ask(box, KeyAction::Grant, "192.0.5.1", kStart, 1).buckets[0];
    EXPECT_EQ(granted.before, Units{0});
    EXPECT_EQ(granted.remaining, Units{1});
    EXPECT_EQ(granted.given_wider, Units{1});
    EXPECT_EQ(passed(box, "192.0.5.1", 5), 1);
    granted = ask(box, KeyAction::Grant, "192.0.5.1", kStart, 1'000'000).buckets[0];
    EXPECT_EQ(granted.remaining, Units{2});
    EXPECT_EQ(granted.given_wider, Units{2});
    EXPECT_EQ(passed(box, "192.0.5.1", 5), 2);
}

// A key with a bucket of its own is not charged to its network, but begins anew under it.
TEST(KeyQuestion, AResetOfAKeyWithItsOwnBucketIsNotTakenBackByItsNetwork) {
    Box box{RULE
            "    key: [ip.src]\n    on_full: {coarsen: {factor: 4}}\n"
            "    limits: [{algorithm: token_bucket, rate: 1/d, burst: 2}]\n",
            {},
            1};
    (void)passed(box, "192.0.5.1", 2);
    for (int i = 1; i <= 3; ++i) {
        (void)send(box, "192.0." + std::to_string(i) + ".1", kStart);
    }
    for (int i = 0; i < 20; ++i) {
        (void)send(box, "192.0.5." + std::to_string(100 + i), kStart);
    }
    ASSERT_EQ(passed(box, "192.0.5.1", 1), 0);
    const KeyBucket reset = ask(box, KeyAction::Reset, "192.0.5.1", kStart).buckets[0];
    EXPECT_EQ(reset.before, Units{0});
    EXPECT_EQ(reset.remaining, Units{2});
    EXPECT_EQ(reset.given_wider, Units{2});
    EXPECT_EQ(passed(box, "192.0.5.1", 5), 2);
    EXPECT_TRUE(ask(box, KeyAction::Show, "192.0.5.1", kStart).buckets[0].own);
}

// Reloads, traffic and commands at random, against a map of keys that counts in whole units: with a
// rate of 1/s and instants on whole seconds nothing is lost in between.
TEST(KeyQuestion, AgreesWithAMapOfKeys) {
    struct Account {
        std::uint64_t owes = 0;
        std::int64_t at = 0;
    };
    Box box{RULE "    key: [ip.src]\n" BUCKET, {}, 64};
    std::map<int, Account> accounts;
    std::mt19937_64 random{11};
    std::int64_t second = 0;
    int drops = 0;
    for (int round = 0; round < 60'000; ++round) {
        second += static_cast<std::int64_t>(random() % 9 == 0);
        const Instant now = kStart + std::chrono::seconds{second};
        const int host = static_cast<int>(random() % 12);
        const std::string name = "10.0.0." + std::to_string(host);
        Account& account = accounts[host];
        const auto paid = static_cast<std::uint64_t>(second - account.at);
        account.owes -= std::min(account.owes, paid);
        account.at = second;
        const std::uint64_t units = random() % 7;
        switch (random() % 40) {
            case 0:
                (void)ask(box, KeyAction::Reset, name, now);
                account.owes = 0;
                break;
            case 1:
                (void)ask(box, KeyAction::Grant, name, now, units);
                account.owes -= std::min(account.owes, units);
                break;
            case 2:
            case 3:
                ASSERT_EQ(ask(box, KeyAction::Show, name, now).buckets[0].remaining,
                          Units{5 - account.owes});
                break;
            default: {
                const bool passes = account.owes < 5;
                ASSERT_EQ(send(box, name, now).verdict == Verdict::Pass, passes) << round;
                account.owes += passes ? 1 : 0;
                drops += passes ? 0 : 1;
            }
        }
    }
    EXPECT_GT(drops, 1000);
}

}  // namespace
}  // namespace sluice::key_question_test

#undef RULE
#undef BUCKET
