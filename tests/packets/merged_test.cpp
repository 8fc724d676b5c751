#include "tests/packets/frame.hpp"
#include "tests/packets/workers.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

// Several workers with one rule set: what they admit of a key together.
namespace sluice::merged_test {
namespace {

using namespace std::chrono_literals;
using test::Workers;

constexpr Instant kStart{1h};

#define RULE "version: 1\nrules:\n  - id: r\n    mode: enforce\n    key: [ip.dst]\n"
#define LIMIT(rate, burst) \
    "    limits: [{algorithm: token_bucket, rate: " rate ", burst: " burst "}]\n"

std::vector<std::byte> frame() {
    return test::udp().src("10.0.0.1").dst("192.0.2.1").dport(53).bytes();
}

// Whatever the key is made of: some have a short way, and some a slot in the quick rule.
TEST(Merged, AnyKeyIsShared) {
    for (const char* key : {"[]", "[ip.dst]", "[ip.dst, l4.dport]", "[l4.dport]"}) {
        const std::string rules =
            "version: 1\nrules:\n  - id: r\n    mode: enforce\n    key: " + std::string{key} +
            "\n" LIMIT("100/s", "200");
        Workers workers{rules, 4};
        std::uint64_t passed = 0;
        for (int i = 0; i < 300; ++i) {
            passed += workers.pass(1, frame(), kStart, static_cast<std::size_t>(i));
            workers.turns(kStart);
        }
        EXPECT_GE(passed, 200U) << key;
        EXPECT_LE(passed, 200U + 3 * workers.limit().shared) << key;
        EXPECT_GT(workers.told(), 0U) << key;
    }
}

TEST(Merged, OneBurstForAllWorkersWithinThePromise) {
    Workers workers{RULE LIMIT("100/s", "200"), 4};
    const std::uint64_t ahead = workers.limit().shared;
    EXPECT_EQ(ahead, 4U);  // 1/16 of the burst for the three others
    std::uint64_t passed = 0;
    Instant now = kStart;
    for (int i = 0; i < 300; ++i, now += 10us) {
        passed += workers.pass(4, frame(), now);
        workers.turns(now);
    }
    // Three milliseconds give none.
    EXPECT_GE(passed, 200U);
    EXPECT_LE(passed, 201U + 3 * ahead);
    // And over a long time the rate.
    for (int i = 0; i < 10'000; ++i, now += 1ms) {
        passed += workers.pass(4, frame(), now);
        workers.turns(now);
    }
    EXPECT_LE(passed, 201U + 1'001 + 3 * ahead);
    EXPECT_GE(passed, 1'190U);
}

// Lowered and restored, a limit that workers share has what it had left; and what was used before
// is no overshoot of theirs.
TEST(Merged, NumbersThatAreRestoredLeaveWhatWasUsed) {
    Workers workers{RULE LIMIT("1/h", "1000"), 4};
    const std::uint64_t ahead = workers.limit().shared;
    std::uint64_t passed = 0;
    for (int i = 0; i < 150; ++i) {
        passed += workers.pass(4, frame(), kStart);
        workers.turns(kStart);
    }
    EXPECT_EQ(passed, 600U);
    workers.apply(RULE LIMIT("1/h", "100"), kStart);
    for (int i = 0; i < 20; ++i) {
        // By then what was not told yet is.
        EXPECT_EQ(workers.pass(4, frame(), kStart + 5s), 0U);
        workers.turns(kStart + 5s);
    }
    workers.apply(RULE LIMIT("1/h", "1000"), kStart + 5s);
    for (int i = 0; i < 300; ++i) {
        passed += workers.pass(4, frame(), kStart + 5s);
        workers.turns(kStart + 5s);
    }
    EXPECT_GE(passed, 1000U);
    EXPECT_LE(passed, 1000U + 3 * ahead);
    EXPECT_LE(workers.worst_excess(), 3 * ahead);
}

TEST(Merged, WhatTheOwnerDoesNotAnswerEndsAndIsSaid) {
    Workers workers{RULE "    max_unsynced: 5\n" LIMIT("1/s", "100"), 2};
    std::uint64_t passed = 0;
    Decision last;
    for (std::size_t worker = 0; worker < 2; ++worker) {
        for (int i = 0; i < 150; ++i) {
            last = workers.judge(worker, frame(), kStart);
            passed += last.verdict == Verdict::Pass ? 1 : 0;
            if (passed == 5 && last.verdict == Verdict::Drop) {
                EXPECT_EQ(last.reason, Reason::NoCredit);
            }
        }
    }
    // The owner had all of the bucket.
    EXPECT_EQ(passed, 105U);
    EXPECT_EQ(workers.counted(TableEvent::CreditClosed), 145U);
    // Once they have talked, nobody has more.
    workers.turns(kStart + 2ms);
    EXPECT_EQ(workers.pass(20, frame(), kStart + 2ms), 0U);
}

TEST(Merged, OnFullOpenLetsTheCopyDecide) {
    Workers workers{RULE "    max_unsynced: 5\n    on_full: open\n" LIMIT("1/s", "100"), 2};
    EXPECT_EQ(workers.pass(400, frame(), kStart), 200U);
    EXPECT_EQ(workers.counted(TableEvent::CreditOpen), 95U);
    workers.turns(kStart + 2ms);
    // Every unit is owed: nothing for a hundred seconds.
    EXPECT_EQ(workers.pass(20, frame(), kStart + 90s), 0U);
}

// Keys that found no place are charged to wider ones, which workers share as well.
TEST(Merged, WiderKeysAreSharedToo) {
    Workers workers{RULE
                    "    on_full: {coarsen: {factor: 2}}\n    max_unsynced: 5\n" LIMIT("1/h", "20"),
                    2,
                    {.keys = 16, .records = 4096}};
    std::uint64_t passed = 0;
    Instant now = kStart;
    for (unsigned host = 0; host < 250; ++host) {
        const auto packet =
            test::udp().src("10.0.0.1").dst("192.0.2." + std::to_string(host)).dport(53).bytes();
        for (int i = 0; i < 30; ++i, now += 1us) {
            passed += workers.pass(2, packet, now);
            workers.turns(now);
        }
        now += 1ms;
        workers.turns(now);
    }
    // At most what all entries of either table, the wider keys and the rule hold, and U for each.
    EXPECT_GT(workers.counted(TableEvent::Coarsened1), 0U);
    EXPECT_LE(passed, (2 * 20 + 40 + 80 + 160) * 25U);
    EXPECT_GT(passed, 16 * 20U);
}

// What is banned or exempt is charged nothing, so workers go on sharing what all others spend.
TEST(Merged, ABanOfOneKeyMovesNoOther) {
    const std::string rules = RULE LIMIT("1/h", "200");
    Workers workers{rules, 4};
    const auto to = [](const std::string& host) {
        return test::udp().src("10.0.0.1").dst(host).dport(53).bytes();
    };
    std::uint64_t passed = workers.pass(40, frame(), kStart);
    workers.turns(kStart);
    using What = KeySetting::What;
    ASSERT_TRUE(
        workers.begin_apply(rules, {{.rule = "r", .key = "192.0.2.2", .what = What::Banned},
                                    {.rule = "r", .key = "192.0.2.3", .what = What::Exempt}}));
    EXPECT_FALSE(workers.is_migrating());
    EXPECT_EQ(workers.limit().scope, LimitScope::Merged);
    EXPECT_EQ(workers.limit().shared, 4U);
    EXPECT_EQ(workers.pass(40, to("192.0.2.2"), kStart), 0U);
    EXPECT_EQ(workers.judge(1, to("192.0.2.2"), kStart).reason, Reason::Banned);
    EXPECT_EQ(workers.pass(600, to("192.0.2.3"), kStart), 600U);
    for (int i = 0; i < 100; ++i) {
        passed += workers.pass(4, frame(), kStart);
        workers.turns(kStart);
    }
    EXPECT_GE(passed, 200U);
    EXPECT_LE(passed, 200U + 3 * workers.limit().shared);
    EXPECT_EQ(workers.handed(), 0U);
}

// A limit behind it is spent as ever, whether the exempt key had a bucket before or none.
TEST(Merged, AnExemptKeyLeavesTheNextLimitAsItIs) {
    const std::string rules = R"(version: 1
rules:
  - {id: host, mode: enforce, key: [ip.dst], limits: [{algorithm: token_bucket, rate: 1/h, burst: 200}]}
  - {id: port, mode: enforce, key: [l4.dport], limits: [{algorithm: token_bucket, rate: 1/h, burst: 200}]}
)";
    for (const unsigned before : {0U, 8U}) {
        Workers workers{rules, 4};
        std::uint64_t passed = workers.pass(before, frame(), kStart);
        workers.turns(kStart);
        ASSERT_TRUE(workers.begin_apply(
            rules, {{.rule = "host", .key = "192.0.2.1", .what = KeySetting::What::Exempt}}));
        EXPECT_FALSE(workers.is_migrating());
        for (int i = 0; i < 500; ++i) {
            passed += workers.pass(8, frame(), kStart);
            workers.turns(kStart);
        }
        EXPECT_GE(passed, 200U) << before;
        EXPECT_LE(passed, 200U + 3 * workers.limit().shared) << before;
    }
}

TEST(Merged, LimitsThatCannotBeMergedAreWithOneWorker) {
    EXPECT_EQ((Workers{RULE LIMIT("100/s", "10"), 4}.limit().shared), 0U);
    for (const char* numbers : {"fixed_window, phase: first", "sliding_log"}) {
        const std::string rules = std::string{RULE} +
                                  "    limits: [{count: 10, window: 1h, algorithm: " + numbers +
                                  "}]\n";
        EXPECT_EQ((Workers{rules, 2}.limit().shared), 0U) << numbers;
    }
    Workers workers{RULE LIMIT("1/h", "2"), 2};
    EXPECT_EQ(workers.limit().shared, 0U);
    EXPECT_EQ(workers.pass(20, frame(), kStart), 2U);
    EXPECT_EQ(workers.handed(), 10U);
}

#define WINDOW(algorithm, count) \
    "    limits: [{algorithm: " algorithm ", count: " count ", window: 100ms}]\n"

// What is admitted in each of some windows when workers take turns at ten times the count.
std::vector<std::uint64_t> passed_by_window(Workers& workers, std::size_t windows) {
    std::vector<std::uint64_t> passed;
    Instant now = kStart;
    for (std::size_t window = 0; window < windows; ++window) {
        passed.push_back(0);
        for (std::size_t i = 0; i < 500; ++i, now += 200us) {
            passed.back() += workers.pass(4, frame(), now);
            workers.poll(i % 4, now);
        }
    }
    return passed;
}

TEST(Merged, EachFixedWindowHasItsCount) {
    Workers workers{RULE WINDOW("fixed_window", "200"), 4};
    const std::uint64_t ahead = workers.limit().shared;
    EXPECT_EQ(ahead, 9U);  // 2000/s for 4 ms, and one
    for (const std::uint64_t passed : passed_by_window(workers, 20)) {
        EXPECT_GE(passed, 200U);
        EXPECT_LE(passed, 200U + 3 * ahead);
    }
}

TEST(Merged, ASlidingWindowCountsWhatWasBefore) {
    Workers workers{RULE WINDOW("sliding_window", "200"), 4};
    const std::uint64_t ahead = workers.limit().shared;
    std::uint64_t all = 0;
    for (const std::uint64_t passed : passed_by_window(workers, 20)) {
        all += passed;
        EXPECT_LE(passed, 200U + 3 * ahead);
    }
    EXPECT_LE(all, 20 * 200U + 20 * 3 * ahead);
    EXPECT_GE(all, 20 * 198U);
    // All of the last window's still count at the beginning of the next, and half of it at half.
    const Instant next = kStart + 2s;
    EXPECT_LE(workers.pass(400, frame(), next), 3 * ahead);
    workers.turns(next + 50ms);
    EXPECT_NEAR(static_cast<double>(workers.pass(400, frame(), next + 50ms)), 100.0,
                static_cast<double>(6 * ahead));
}

// Of a sliding window with sub-windows: within W, not above the count and what workers are ahead;
// and no less than one worker alone would admit with a sub-window more.
TEST(Merged, SubWindowsAreAddedUp) {
    Workers workers{RULE WINDOW("sliding_counters, buckets: 20", "400"), 4};
    const std::uint64_t ahead = workers.limit().shared;
    EXPECT_EQ(ahead, 17U);
    std::uint64_t all = 0;
    for (const std::uint64_t passed : passed_by_window(workers, 20)) {
        all += passed;
        EXPECT_LE(passed, 400U + 3 * ahead);
    }
    EXPECT_GE(all, 20 * 400U * 20 / 22);
    // One that comes back to the key is told when it was spent.
    const Instant later = kStart + 3s;
    EXPECT_GE(workers.pass(2'000, frame(), later), 400U);
    workers.turns(later + 2ms);
    EXPECT_EQ(workers.pass(2'000, frame(), later + 100ms), 0U);
    EXPECT_GE(workers.pass(2'000, frame(), later + 110ms), 400U);
}

// Without a word from the owner: no more than U, window after window.
TEST(Merged, WindowsEndWhereTheOwnerDoesNotAnswer) {
    Workers workers{RULE "    max_unsynced: 5\n" WINDOW("fixed_window", "100"), 2};
    EXPECT_EQ(workers.pass(400, frame(), kStart), 105U);
    EXPECT_EQ(workers.pass(400, frame(), kStart + 100ms), 100U);  // none is done with yet
    workers.turns(kStart + 200ms);
    // The last two of the first window wait until the worker charges in another one.
    EXPECT_EQ(workers.pass(400, frame(), kStart + 200ms), 103U);
    workers.turns(kStart + 202ms);
    EXPECT_EQ(workers.pass(400, frame(), kStart + 203ms), 0U);
}

// Local rules ask no ledger.
TEST(Merged, ALocalRuleIsAsItWas) {
    Workers workers{
        "version: 1\nrules:\n  - id: r\n    mode: enforce\n    key: [ip.src]\n" LIMIT("1/h", "200"),
        2};
    EXPECT_EQ(workers.limit().shared, 0U);
    EXPECT_EQ(workers.pass(600, frame(), kStart), 400U);
}

// What is refused may spend as well, no more than there is.
TEST(Merged, RejectedSpendIsShared) {
    Workers workers{
        RULE "    rejected_spend: true\n    max_unsynced: 10\n    cost: 10\n" LIMIT("10/s", "105"),
        2};
    Instant now = kStart;
    std::uint64_t passed = 0;
    for (int i = 0; i < 50; ++i) {
        passed += workers.pass(2, frame(), now);
        workers.turns(now);
        now += 1ms;
    }
    EXPECT_GE(passed, 10U);
    EXPECT_LE(passed, 12U);
    // Refused again and again, it never gets a tenth of a second's worth together.
    for (int i = 0; i < 200; ++i) {
        EXPECT_EQ(workers.pass(2, frame(), now), 0U);
        workers.turns(now);
        now += 10ms;
    }
}

}  // namespace
}  // namespace sluice::merged_test
