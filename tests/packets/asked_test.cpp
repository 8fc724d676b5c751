#include "tests/chance.hpp"
#include "tests/packets/asking_workers.hpp"
#include "tests/packets/dns_bytes.hpp"
#include "tests/packets/frame.hpp"
#include "tests/packets/unit_lines.hpp"
#include "tests/rounds.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

// Limits whose keys' owners are asked: packets one by one are judged as one worker would; packets
// all at once are never admitted beyond the limit, whatever is late or lost.
namespace sluice::asked_test {
namespace {

using namespace std::chrono_literals;
using test::AskingWorkers;
using test::Chance;

constexpr Instant kStart{1h};
constexpr std::size_t kWorkers = 4;

std::string rules(const std::string& list) {
    return "version: 1\ndefaults: {mode: enforce}\nrules:\n" + list;
}
constexpr std::string_view kLog = "limits: [{algorithm: sliding_log, count: 4, window: 300ms}]";
constexpr std::string_view kFew = "limits: [{algorithm: token_bucket, rate: 9/s, burst: 3}]";

// Queries for few names from few addresses, several questions in some.
std::vector<std::byte> random_query(Chance& chance) {
    const auto name = [&] {
        return std::string{"n"} + std::to_string(chance.below(4)) + ".example";
    };
    std::string message = test::dns_query(name());
    if (chance.one_in(3)) {
        message = test::DnsText{.questions = 2,
                                .body = test::dns_question(name()) + test::dns_question(name())}
                      .wire();
    }
    return test::udp()
        .src("10.0.0." + std::to_string(1 + chance.below(5)))
        .dst("192.0.2." + std::to_string(chance.below(3)))
        .sport(static_cast<std::uint16_t>(1000 + chance.below(2)))
        .dport(53)
        .carries(test::message_octets(message))
        .bytes();
}

// Of one question each is told how long it would have to wait by itself.
bool has_one_question(const std::vector<std::byte>& query) {
    return query.size() < 80;
}
std::string told(const Decision& decision, bool with_wait) {
    const std::string by = std::to_string(static_cast<int>(decision.verdict)) + "/" +
                           std::to_string(static_cast<int>(decision.reason)) + " by " +
                           std::to_string(decision.rule);
    return with_wait ? by + "." + std::to_string(decision.key) + " wait " +
                           std::to_string(decision.wait.count())
                     : by;
}

TEST(Asked, OneByOneIsAsOneWorkerWould) {
    const std::string log{kLog};
    const std::string few{kFew};
    const std::string list[] = {
        "  - {id: names, key: [dns.qname], per: query, " + log + "}\n",
        "  - {id: names, key: [dns.qname], per: query, " + few + "}\n",
        "  - {id: values, key: [ip.dst], per: query, limits: [{algorithm: distinct, of: dns.qname, "
        "count: 2, window: 1s}]}\n",
        "  - {id: values, key: [dns.qname], limits: [{algorithm: distinct, of: ip.src, count: 3, "
        "window: 2s}, {algorithm: sliding_log, count: 9, window: 300ms}]}\n",
        "  - {id: all, key: [], per: query, " + log + "}\n",
        "  - {id: packets, key: [dns.qname], " + log + "}\n",
        "  - {id: both, key: [dns.qname], per: query, limits: [{algorithm: sliding_log, count: 3, "
        "window: 200ms}, {algorithm: token_bucket, rate: 20/s, burst: 4}]}\n",
        "  - {id: a, key: [dns.qname], per: query, " + log + "}\n  - {id: b, key: [ip.dst], " +
            few + "}\n",
        "  - id: tiers\n    per: query\n    tiers: [{key: [ip.dst], " + log +
            "}, {key: [dns.qname], " + few + "}]\n",
        "  - {id: colour, key: [dns.qname], limits: [{algorithm: srtcm, cir: 10/s, cbs: 2, ebs: "
        "2}]}\n",
        "  - {id: first, key: [dns.qname], limits: [{algorithm: fixed_window, count: 5, window: "
        "400ms, phase: first}]}\n",
        "  - {id: spends, key: [dns.qname], rejected_spend: true, limits: [{algorithm: "
        "token_bucket, rate: 9/s, burst: 3}]}\n",
        "  - {id: watch, mode: monitor, key: [dns.qname], per: query, " + log +
            "}\n  - {id: hold, key: [ip.dst], " + few + "}\n",
        "  - {id: ban, key: [dns.qname], ban: {after: 3, within: 1s, for: 2s}, " + log + "}\n",
        "  - {id: own, key: [ip.dst], overrides: {inline: [{key: 192.0.2.1, limits: {\"1\": {rate: "
        "40/s, burst: 9}}}, {key: 192.0.2.2, exempt: true}]}, limits: [{algorithm: token_bucket, "
        "rate: 9/s, burst: 3}]}\n",
    };
    unsigned seed = 1;
    for (const std::string& one : list) {
        SCOPED_TRACE(one);
        AskingWorkers workers{rules(one), kWorkers};
        AskingWorkers oracle{rules(one), 1};
        Chance chance{++seed};
        Instant now = kStart;
        for (int i = 0; i < 1'000; ++i, now += Nanoseconds{chance.below(40'000'000)}) {
            const auto frame = random_query(chance);
            const bool alone = has_one_question(frame);
            const std::string here = told(workers.judge(chance.below(kWorkers), frame, now), alone);
            ASSERT_EQ(here, told(oracle.judge(0, frame, now), alone))
                << "packet " << i << " seed " << seed;
        }
        EXPECT_GT(workers.asked(), 300U);
        EXPECT_EQ(workers.waiting(), 0U);
        EXPECT_EQ(workers.reserved(), 0U) << "all has been settled";
        for (std::size_t rule = 0; rule < oracle.set().rules.size(); ++rule) {
            EXPECT_EQ(workers.counted(rule), oracle.counted(rule)) << "rule " << rule;
        }
        EXPECT_EQ(workers.counted(UnitEvent::DnsQuery), oracle.counted(UnitEvent::DnsQuery));
    }
}

// What local limits refuse is not asked, and what asked limits refuse spends nothing locally.
TEST(Asked, OnlyWhatPassesLocalLimitsIsAsked) {
    const std::string text =
        rules("  - {id: source, key: [ip.src], " + std::string{kFew} +
              "}\n  - {id: names, key: [dns.qname], per: query, " + std::string{kLog} + "}\n");
    AskingWorkers workers{text, kWorkers};
    AskingWorkers oracle{text, 1};
    Chance chance{3};
    std::uint64_t asked = 0;
    Instant now = kStart;
    for (int i = 0; i < 1'500; ++i, now += Nanoseconds{chance.below(20'000'000)}) {
        const auto frame = random_query(chance);
        const std::size_t at = std::to_integer<std::size_t>(frame[29]) % kWorkers;  // by source
        const Decision here = workers.judge(at, frame, now);
        const Decision there = oracle.judge(0, frame, now);
        ASSERT_EQ(here.verdict, there.verdict) << "packet " << i;
        ASSERT_EQ(here.reason, there.reason) << "packet " << i;
        asked += here.rule == 0 ? 0 : has_one_question(frame) ? 1 : 2;
    }
    EXPECT_EQ(workers.counted(0), oracle.counted(0));
    EXPECT_EQ(workers.reserved(), 0U);
    EXPECT_EQ(workers.asked(), asked) << "what the source's limit refuses is not asked";
    EXPECT_GT(oracle.counted(0)[1], 100U);
}

struct Course {
    unsigned seed;
    bool loses;  // rings and rooms too small, workers that stall beyond the wait
};

// Bursts at all workers, owners that answer late or never: of each name, no more than `count`
// queries have passed in any window.
void run_course(const Course& course) {
    SCOPED_TRACE("seed " + std::to_string(course.seed));
    constexpr std::uint64_t kCount = 6;
    constexpr Nanoseconds kWindow = 100ms;
    AskingWorkers::Sizes sizes;
    sizes.pending = {.packets = 4'096, .questions = 8'192, .longest = 10s};
    sizes.ring = 4'096;
    sizes.lifetime = 20s;
    if (course.loses) {
        sizes.pending = {.packets = 12, .questions = 16, .longest = 2ms};
        sizes.ring = 8;
        sizes.lifetime = 30ms;
    }
    AskingWorkers workers{
        rules("  - {id: names, key: [dns.qname], per: query, limits: [{algorithm: sliding_log, "
              "count: 6, window: 100ms}, {algorithm: fixed_window, count: 40, window: "
              "1s, phase: first}]}\n"),
        kWorkers, sizes};
    Chance chance{course.seed};
    std::map<std::string, std::vector<std::pair<std::size_t, Instant>>> by_name;
    std::map<std::size_t, Instant> sent_at;
    std::vector<std::string> names;
    Instant now = kStart;
    for (int step = 0; step < 1'500; ++step, now += Nanoseconds{chance.below(1'000'000)}) {
        const std::size_t at = chance.below(kWorkers);
        std::vector<std::vector<std::byte>> burst;
        for (std::size_t i = chance.one_in(4) ? 1 + chance.below(6) : 0; i > 0; --i) {
            names.push_back("n" + std::to_string(chance.below(3)) + ".example");
            burst.push_back(test::udp()
                                .src("10.0.0." + std::to_string(chance.below(9)))
                                .dport(53)
                                .carries(test::message_octets(test::dns_query(names.back())))
                                .bytes());
        }
        (void)workers.send(at, burst, now);
        for (std::size_t i = 0; i < names.size(); ++i) {
            if (workers.sent()[i].decided && !sent_at.contains(i)) {
                sent_at[i] = now;
                if (forwards(workers.sent()[i].decision.verdict)) {
                    by_name[names[i]].push_back({i, now});
                }
            }
        }
    }
    now += 1s;
    workers.settle(now);
    workers.settle(now + 1s);
    EXPECT_EQ(workers.waiting(), 0U);
    EXPECT_EQ(workers.reserved(), 0U);
    std::size_t passed = 0;
    for (const auto& [name, all] : by_name) {
        passed += all.size();
        for (std::size_t first = 0; first + kCount < all.size(); ++first) {
            // Charged once its commit has come: at most as late as its owner was.
            ASSERT_GE(all[first + kCount].second - all[first].second, kWindow - 40ms) << name;
        }
    }
    EXPECT_GT(passed, 30U);
    for (const AskingWorkers::Sent& sent : workers.sent()) {
        ASSERT_TRUE(sent.decided) << "nothing is lost without a verdict";
    }
    if (course.loses) {
        EXPECT_GT(workers.counted(TableEvent::AskClosed), 0U);
    } else {
        EXPECT_EQ(workers.counted(TableEvent::AskClosed), 0U);
    }
}

TEST(Asked, NeverTooMuchHoweverLateOwnersAre) {
    for (unsigned seed = 1; seed <= static_cast<unsigned>(test::rounds(12)); ++seed) {
        run_course({seed, false});
        run_course({seed, true});
        ASSERT_FALSE(testing::Test::HasFatalFailure());
    }
}

// One key that never refills: exactly `count`, over all workers at once.
TEST(Asked, ExactlyTheCountPassesOverAllWorkers) {
    AskingWorkers workers{
        rules("  - {id: names, key: [dns.qname], per: query, limits: [{algorithm: sliding_log, "
              "count: 50, window: 1h}]}\n"),
        kWorkers};
    const auto frame = test::udp()
                           .src("10.0.0.1")
                           .dport(53)
                           .carries(test::message_octets(test::dns_query("a.example")))
                           .bytes();
    Instant now = kStart;
    for (int round = 0; round < 10; ++round) {
        for (std::size_t at = 0; at < kWorkers; ++at) {
            (void)workers.send(at, {frame, frame, frame}, now);
        }
        workers.settle(now);
        now += 1ms;
    }
    EXPECT_EQ(workers.passed(), 50U);
    EXPECT_EQ(workers.sent().size(), 120U);
}

// Two packets that show the same new value, both asked about before either is charged: it counts
// once, and the place that is left is another value's.
TEST(Asked, AValueThatIsReservedCostsNothingMore) {
    AskingWorkers workers{rules("  - {id: clients, key: [ip.dst], limits: [{algorithm: distinct, "
                                "of: ip.src, count: 2, window: 2h}]}\n"),
                          kWorkers};
    const auto from = [](std::string_view source, std::uint16_t sport = 1) {
        return test::udp().src(source).sport(sport).dst("192.0.2.1").dport(9).bytes();
    };
    (void)workers.send(0, {from("10.0.0.1", 1), from("10.0.0.1", 2)}, kStart);
    (void)workers.send(1, {from("10.0.0.1", 3), from("10.0.0.2", 1), from("10.0.0.2", 2)}, kStart);
    workers.settle(kStart);
    EXPECT_EQ(workers.passed(), 5U);
    EXPECT_EQ(workers.reserved(), 0U);
    EXPECT_EQ(workers.judge(2, from("10.0.0.3"), kStart).verdict, Verdict::Drop);
    EXPECT_EQ(workers.judge(2, from("10.0.0.1"), kStart).verdict, Verdict::Pass);
}

// A worker that does not own that frame's key.
std::size_t asker_of(const std::string& text, const std::vector<std::byte>& frame) {
    AskingWorkers workers{text, kWorkers};
    (void)workers.send(0, {frame}, kStart);
    workers.poll(0, kStart);
    return workers.sent()[0].decided ? 1 : 0;
}

TEST(Asked, PacketsOfAConnectionStayInTheirOrder) {
    const std::string text =
        rules("  - {id: names, when: dns.qname eq \"a.example\", key: [dns.qname], per: query, " +
              std::string{kLog} +
              "}\n  - {id: allowed, when: dns.qname eq \"b.example\", on_match: allow}\n");
    AskingWorkers workers{text, kWorkers};
    const auto query = [](std::string_view name, std::uint16_t sport) {
        return test::udp()
            .src("10.0.0.1")
            .sport(sport)
            .dport(53)
            .carries(test::message_octets(test::dns_query(name)))
            .bytes();
    };
    const std::size_t at = asker_of(text, query("a.example", 1));
    (void)workers.send(at, {query("a.example", 1), query("b.example", 1), query("b.example", 2)},
                       kStart);
    (void)workers.send(at, {query("c.example", 1)}, kStart);
    EXPECT_EQ(workers.waiting(), 3U);
    EXPECT_TRUE(workers.sent()[2].decided) << "another connection does not wait";
    workers.settle(kStart);
    EXPECT_EQ(workers.sent()[0].rank, 2U);
    EXPECT_EQ(workers.sent()[1].rank, 3U);
    EXPECT_EQ(workers.sent()[3].rank, 4U);
    EXPECT_EQ(workers.sent()[1].decision.reason, Reason::AllowRule);
    EXPECT_EQ(workers.counted(1)[0], 2U) << "each is counted once, also one that has waited";
    EXPECT_EQ(workers.counted(UnitEvent::DnsQuery), 4U) << "each is parsed once";
}

// The SYN makes a connection known at its key's owner, the SYN-ACK is told to it, and the ACK that
// completes the handshake is asked about.
TEST(Asked, ConnectionsAreCountedFromTheirHandshakeOn) {
    AskingWorkers workers{
        rules("  - {id: open, when: l4.dport eq 80, key: [ip.dst], limits: [{algorithm: "
              "concurrency, count: 3, idle: 1m, from: established}]}\n"),
        kWorkers};
    const auto segment = [](std::uint16_t port, bool is_server) {
        return test::tcp()
            .src(is_server ? "192.0.2.1" : "10.0.0.1")
            .dst(is_server ? "10.0.0.1" : "192.0.2.1")
            .sport(is_server ? 80 : port)
            .dport(is_server ? port : 80);
    };
    const auto judge = [&](std::size_t at, const test::Frame& frame, Direction dir) {
        return workers.judge(at % kWorkers, frame.bytes(), kStart, dir).verdict == Verdict::Pass;
    };
    const auto completes = [&](std::uint16_t port) {
        return judge(port, segment(port, false).flags(0x10).seq(100).ack(501), Direction::In);
    };
    for (std::uint16_t port = 1; port <= 10; ++port) {
        EXPECT_TRUE(judge(port, segment(port, false).flags(0x02).seq(99), Direction::In));
        EXPECT_TRUE(
            judge(port + 1U, segment(port, true).flags(0x12).seq(500).ack(100), Direction::Out));
    }
    int passed = 0;
    for (std::uint16_t port = 1; port <= 10; ++port) {
        // Whoever owns the key hears of SYN-ACKs when its next burst comes.
        for (std::size_t at = 0; port == 1 && at < kWorkers; ++at) {
            (void)judge(at, test::udp(), Direction::In);
        }
        passed += completes(port) ? 1 : 0;
    }
    EXPECT_EQ(passed, 3);
    EXPECT_GT(workers.asked(), 0U);
    EXPECT_FALSE(completes(10));
    (void)judge(2, segment(1, true).flags(0x04).seq(501).ack(0), Direction::Out);
    for (std::size_t at = 0; at < kWorkers; ++at) {
        (void)judge(at, test::udp(), Direction::In);
    }
    EXPECT_TRUE(completes(10));
    EXPECT_FALSE(completes(9));
}

TEST(Asked, AnOwnerThatDoesNotAnswerIsWaitedForInVain) {
    struct Row {
        const char* rule;
        Verdict verdict;
        Reason reason;
        TableEvent event;
    };
    const Row rows[] = {
        {"on_full: closed, ", Verdict::Drop, Reason::NoAnswer, TableEvent::AskClosed},
        {"on_full: open, ", Verdict::Pass, Reason::WithinLimits, TableEvent::AskOpen},
        {"mode: monitor, ", Verdict::Pass, Reason::Unmatched, TableEvent::AskClosed},
    };
    const auto frame = test::udp()
                           .src("10.0.0.1")
                           .dport(53)
                           .carries(test::message_octets(test::dns_query("a.example")))
                           .bytes();
    for (const Row& row : rows) {
        SCOPED_TRACE(row.rule);
        const std::string text =
            rules("  - {id: names, " + std::string{row.rule} + "key: [dns.qname], per: query, " +
                  std::string{kLog} + "}\n");
        AskingWorkers workers{text, kWorkers};
        const std::size_t at = asker_of(text, frame);
        (void)workers.send(at, {frame}, kStart);
        workers.poll(at, kStart + 9ms);
        EXPECT_EQ(workers.waiting(), 1U);
        workers.poll(at, kStart + 11ms);
        ASSERT_TRUE(workers.sent()[0].decided);
        EXPECT_EQ(workers.sent()[0].decision.verdict, row.verdict);
        EXPECT_EQ(workers.sent()[0].decision.reason, row.reason);
        EXPECT_EQ(workers.counted(row.event), 1U);
        EXPECT_EQ(workers.counted(AskEvent::NoAnswer), 1U);
        // The answer comes all the same, and what it promised is given up.
        workers.settle(kStart + 12ms);
        EXPECT_EQ(workers.reserved(), 0U);
        EXPECT_EQ(workers.counted(AskEvent::Late), 1U);
        EXPECT_EQ(workers.counted(AskEvent::Cancelled), 1U);
        for (int i = 0; i < 4; ++i) {
            EXPECT_EQ(workers.judge(1, frame, kStart + 13ms).verdict, Verdict::Pass);
        }
    }
}

TEST(Asked, AFullRoomAnswersByPolicyAndNobodyBehindIsRefused) {
    AskingWorkers::Sizes sizes;
    sizes.pending = {.packets = 2, .questions = 8, .longest = 10ms};
    AskingWorkers workers{rules("  - {id: names, when: dns.qname eq \"a.example\", key: "
                                "[dns.qname], per: query, " +
                                std::string{kLog} + "}\n"),
                          kWorkers, sizes};
    const auto query = [](std::string_view name, std::uint16_t sport) {
        return test::udp()
            .src("10.0.0.1")
            .sport(sport)
            .dport(53)
            .carries(test::message_octets(test::dns_query(name)))
            .bytes();
    };
    (void)workers.send(0,
                       {query("a.example", 1), query("a.example", 2), query("a.example", 3),
                        query("b.example", 1)},
                       kStart);
    EXPECT_EQ(workers.waiting(), 2U);
    EXPECT_EQ(workers.reserve_client(0).counters().held.read(), 2U);
    EXPECT_EQ(workers.counted(AskEvent::NoRoom), 2U);
    EXPECT_EQ(workers.sent()[2].decision.reason, Reason::NoAnswer);
    EXPECT_EQ(workers.sent()[3].decision.verdict, Verdict::Pass);
    EXPECT_EQ(workers.counted(TableEvent::AskOvertook), 1U);
    workers.settle(kStart);
    EXPECT_EQ(workers.passed(), 3U);
}

TEST(Asked, WhatBecomesOfQuestionsIsCounted) {
    AskingWorkers::Sizes sizes;
    sizes.ring = 8;
    const std::string text =
        rules("  - {id: names, key: [dns.qname], per: query, " + std::string{kLog} + "}\n");
    AskingWorkers workers{text, kWorkers, sizes};
    const auto frame = test::udp()
                           .src("10.0.0.1")
                           .dport(53)
                           .carries(test::message_octets(test::dns_query("a.example")))
                           .bytes();
    const auto expect = [&](AskEvent event, std::uint64_t count) {
        EXPECT_EQ(workers.counted(event), count)
            << kAskEvents[static_cast<std::size_t>(event)].name;
    };
    for (int i = 0; i < 6; ++i) {
        (void)workers.judge(0, frame, kStart);
    }
    workers.settle(kStart);
    expect(AskEvent::Asked, 6);
    expect(AskEvent::Answered, 6);
    expect(AskEvent::Reserved, 4);
    expect(AskEvent::Charged, 4);
    // More at once than the ring to one owner holds.
    const std::size_t asker = asker_of(text, frame);
    (void)workers.send(asker, std::vector(12, frame), kStart + 1s);
    expect(AskEvent::Asked, 6 + 8);
    expect(AskEvent::RingFull, 4);
    // What is promised to an asker that never comes back is charged.
    const auto others_take_turns = [&](Instant now) {
        for (std::size_t at = 0; at < kWorkers; ++at) {
            if (at != asker) {
                workers.poll(at, now);
            }
        }
    };
    others_take_turns(kStart + 1s);
    expect(AskEvent::Reserved, 8);
    EXPECT_EQ(workers.reserved(), 4U);
    others_take_turns(kStart + 3s);
    expect(AskEvent::Expired, 4);
    EXPECT_EQ(workers.reserved(), 0U);
    for (std::size_t at = 0; at < kWorkers; ++at) {
        EXPECT_EQ(workers.owner(at).counters().held.read(), 0U);
    }
}

TEST(Asked, RulesMayChangeWhilePacketsWait) {
    const std::string names = "  - {id: names, key: [dns.qname], per: query, " + std::string{kLog};
    AskingWorkers workers{rules(names + "}\n"), kWorkers};
    const auto frame = test::udp()
                           .src("10.0.0.1")
                           .dport(53)
                           .carries(test::message_octets(test::dns_query("a.example")))
                           .bytes();
    (void)workers.send(0, {frame}, kStart);
    workers.apply(rules("  - {id: other, key: [ip.dst], " + std::string{kLog} + "}\n"));
    workers.settle(kStart + 11ms);
    ASSERT_TRUE(workers.sent()[0].decided);
    EXPECT_EQ(workers.sent()[0].decision.reason, Reason::NoAnswer) << "it was not asked for that";
    workers.apply(rules("  - {id: none, when: ip.proto eq 1, on_match: drop}\n"));
    (void)workers.send(1, {frame}, kStart + 12ms);
    EXPECT_EQ(workers.sent()[1].decision.reason, Reason::Unmatched);
}

}  // namespace
}  // namespace sluice::asked_test
