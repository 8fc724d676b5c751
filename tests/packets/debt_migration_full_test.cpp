#include "tests/packets/frame.hpp"
#include "tests/packets/workers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <string>

// Reloads that bring keys to workers whose tables are full: a key that had a place, and finds none,
// owes what it owed, and so do networks, at every instant of the move.
namespace sluice::debt_migration_full_test {
namespace {

using namespace std::chrono_literals;
using test::Workers;

constexpr Instant kStart{1h};
constexpr std::size_t kWorkers = 3;
constexpr std::size_t kHome = 1;  // whom packets from outside come to
constexpr std::size_t kAway = 2;  // and those from inside
constexpr std::uint64_t kBurst = 10;
constexpr std::uint64_t kOfNetwork = 4 * kBurst;
constexpr std::uint64_t kOfRule = 64 * kBurst;
constexpr std::string_view kBucket = "{algorithm: token_bucket, rate: 1/h, burst: 10}";

// One rule that sees what comes from one side. The other side spreads by another field.
std::string rules(Direction dir, std::string_view limit = kBucket) {
    const std::string side = dir == Direction::In ? "in" : "out";
    return "version: 1\ndefaults: {mode: enforce}\nrules:\n  - id: r\n    when: 'dir eq \"" + side +
           "\"'\n    key: [ip.src, ip.dst]\n    on_full: {coarsen: {factor: 4}}\n    limits: [" +
           std::string{limit} + "]\n";
}

// Four places for keys on each worker, and four for networks.
test::WorkerParts small_tables() {
    return {.keys = 1,
            .ports = {{.pair = "lab", .dir = Direction::In, .rss = Rss::Source},
                      {.pair = "lab", .dir = Direction::Out, .rss = Rss::Destination}}};
}

// A line for each of them, and some that are kept for networks.
test::WorkerParts with_lines() {
    test::WorkerParts parts = small_tables();
    parts.lines = 256;
    return parts;
}

struct Hosts {
    std::string network;  // "10.0.1."
    int first = 1;
    int last = 4;
};

// So many packets of each host at a worker, in turn: how many pass.
std::uint64_t pass(Workers& workers, std::size_t at, const Hosts& hosts, int packets = 1,
                   Instant now = kStart) {
    std::uint64_t passed = 0;
    for (int i = 0; i < packets; ++i) {
        for (int host = hosts.first; host <= hosts.last; ++host) {
            const auto frame =
                test::udp().src(hosts.network + std::to_string(host)).dst("192.0.2.1").bytes();
            passed += workers.judge(at, frame, now).verdict == Verdict::Pass ? 1 : 0;
        }
    }
    return passed;
}

enum class Full : std::uint8_t { Keys, Networks };

// Of other hosts, and of other networks.
void fill(Workers& workers, std::size_t at, Full full = Full::Keys) {
    EXPECT_EQ(pass(workers, at, {"10.9." + std::to_string(at) + "."}, 10), 4 * kBurst);
    for (int net = 1; full == Full::Networks && net <= 4; ++net) {
        EXPECT_EQ(pass(workers, at, {"10.8." + std::to_string(net) + ".", 1, 1}), 1U);
    }
}

// Packets come from the other side, and to another worker, from now on.
void begin(Workers& workers, Direction dir, std::string_view limit = kBucket) {
    ASSERT_TRUE(workers.begin_apply(rules(dir, limit)));
    ASSERT_TRUE(workers.is_migrating());
    workers.come_from(dir);
}

const Hosts kFour{"10.0.1."};
const Hosts kMany{"10.0.1.", 1, 30};

// Networks while keys move.

TEST(MovingFull, ANetworkIsGivenNothingWhileItMoves) {
    for (const bool full : {false, true}) {
        Workers workers{rules(Direction::In), kWorkers, small_tables()};
        fill(workers, kHome);
        if (full) {
            fill(workers, kAway);
        }
        EXPECT_EQ(pass(workers, kHome, kMany, 5), kOfNetwork);
        begin(workers, Direction::Out);
        EXPECT_EQ(pass(workers, kAway, kMany, 5), 0U) << full;
        workers.end_apply(kStart);
        EXPECT_EQ(pass(workers, kAway, kMany, 5), 0U) << full;
    }
}

TEST(MovingFull, WhatIsLeftOfANetworkIsLeftWhileItMoves) {
    Workers workers{rules(Direction::In), kWorkers, small_tables()};
    fill(workers, kHome);
    fill(workers, kAway);
    EXPECT_EQ(pass(workers, kHome, {"10.0.1.", 1, 25}), 25U);
    begin(workers, Direction::Out);
    EXPECT_EQ(pass(workers, kAway, {"10.0.1.", 1, 5}), 5U);
    EXPECT_EQ(pass(workers, kHome, {"10.0.1.", 1, 4}), 4U);  // who has not heard of it
    EXPECT_EQ(pass(workers, kAway, kMany, 5), kOfNetwork - 34);
    EXPECT_EQ(pass(workers, kHome, kMany), 0U);
    workers.end_apply(kStart);
    EXPECT_EQ(pass(workers, kAway, kMany, 5), 0U);
}

TEST(MovingFull, ARuleIsGivenNothingWhileItMoves) {
    Workers workers{rules(Direction::In), kWorkers, small_tables()};
    fill(workers, kHome, Full::Networks);
    fill(workers, kAway);
    std::uint64_t passed = 0;
    for (int net = 0; net < 30; ++net) {
        passed += pass(workers, kHome, {"10.1." + std::to_string(net) + ".", 1, 30});
    }
    EXPECT_EQ(passed, kOfRule);
    begin(workers, Direction::Out);
    for (int net = 0; net < 40; ++net) {
        EXPECT_EQ(pass(workers, kAway, {"10.1." + std::to_string(net) + ".", 1, 30}), 0U) << net;
    }
}

// A host that has been charged to its network is not given its own burst where it finds a place.
TEST(MovingFull, AHostIsNotGivenABurstBesideItsNetworkWhileItMoves) {
    Workers workers{rules(Direction::In), kWorkers, small_tables()};
    fill(workers, kHome);
    EXPECT_EQ(pass(workers, kHome, {"10.0.1.", 1, 1}, 12), 12U);
    begin(workers, Direction::Out);
    EXPECT_EQ(pass(workers, kAway, {"10.0.1.", 1, 1}, 12), 0U);
}

// Hosts that had places.

TEST(MovingFull, AnExhaustedHostWithoutAPlaceIsGivenNothing) {
    constexpr auto kLimits = std::to_array<std::string_view>(
        {kBucket, "{algorithm: leaky_bucket, rate: 1/h, queue: 10}",
         "{algorithm: fixed_window, count: 10, window: 9h, phase: first}",
         "{algorithm: sliding_window, count: 10, window: 9h}",
         "{algorithm: sliding_counters, count: 10, window: 9h, buckets: 9}",
         "{algorithm: sliding_log, count: 10, window: 9h}"});
    for (const std::string_view limit : kLimits) {
        SCOPED_TRACE(limit);
        Workers workers{rules(Direction::In, limit), kWorkers, with_lines()};
        EXPECT_EQ(pass(workers, kHome, kFour, 12), 4 * kBurst);
        fill(workers, kAway);
        begin(workers, Direction::Out, limit);
        EXPECT_EQ(pass(workers, kAway, kFour, 12), 0U);
        workers.end_apply(kStart);
        EXPECT_EQ(pass(workers, kAway, kFour, 12), 0U);
        // Others of the network are not to blame.
        EXPECT_EQ(pass(workers, kAway, {"10.0.1.", 9, 9}), 1U);
    }
}

// Charged to the network with all that they owed, once, however often they come.
TEST(MovingFull, ANetworkIsChargedWithWhatItsHostsOwed) {
    Workers workers{rules(Direction::In), kWorkers, small_tables()};
    EXPECT_EQ(pass(workers, kHome, kFour, 3), 12U);
    fill(workers, kAway);
    workers.apply(rules(Direction::Out), kStart);
    workers.come_from(Direction::Out);
    EXPECT_EQ(pass(workers, kAway, kFour), 4U);
    EXPECT_EQ(pass(workers, kAway, kFour, 30), kOfNetwork - 12 - 4);
    EXPECT_EQ(pass(workers, kAway, kMany), 0U);
    // And as its rate says.
    EXPECT_EQ(pass(workers, kAway, kFour, 5, kStart + 2h), 8U);
}

constexpr std::string_view kValues = "{algorithm: distinct, of: l4.dport, count: 10, window: 9h}";

// One packet of each host to each of those ports: how many pass.
std::uint64_t show(Workers& workers, std::size_t at, const Hosts& hosts, std::uint16_t first,
                   std::uint16_t last) {
    std::uint64_t passed = 0;
    for (std::uint16_t port = first; port <= last; ++port) {
        for (int host = hosts.first; host <= hosts.last; ++host) {
            const auto frame = test::udp()
                                   .src(hosts.network + std::to_string(host))
                                   .dst("192.0.2.1")
                                   .dport(port)
                                   .bytes();
            passed += workers.judge(at, frame, kStart).verdict == Verdict::Pass ? 1 : 0;
        }
    }
    return passed;
}
const Hosts kOne{"10.0.1.", 1, 1};

// Different values that a host has shown elsewhere: nothing is known of them here.
TEST(MovingFull, ANetworkIsChargedWithTheValuesOfItsHosts) {
    Workers workers{rules(Direction::In, kValues), kWorkers, with_lines()};
    EXPECT_EQ(show(workers, kHome, kFour, 1, 3), 12U);
    fill(workers, kAway);
    workers.apply(rules(Direction::Out, kValues), kStart);
    workers.come_from(Direction::Out);
    EXPECT_EQ(show(workers, kAway, kFour, 101, 101), 4U);
    EXPECT_EQ(show(workers, kAway, kOne, 102, 160), kOfNetwork - 12 - 1);
    EXPECT_EQ(show(workers, kAway, kFour, 101, 101), 4U) << "it counts";
}

// A value that counts where the key is going costs nothing there, however full its bucket is.
TEST(MovingFull, AValueThatCountsPassesWhileItsHostMoves) {
    Workers workers{rules(Direction::In, kValues), kWorkers, with_lines()};
    EXPECT_EQ(show(workers, kHome, kOne, 1, 4), 4U);
    begin(workers, Direction::Out, kValues);
    EXPECT_EQ(show(workers, kAway, kOne, 101, 110), kBurst - 4);
    EXPECT_EQ(show(workers, kAway, kOne, 101, 110), kBurst - 4);
    workers.end_apply(kStart);
    EXPECT_EQ(show(workers, kAway, kOne, 101, 106), kBurst - 4);
    EXPECT_EQ(show(workers, kAway, kOne, 107, 110), 0U);
}

TEST(MovingFull, AValueThatCountsForANetworkPassesWhileItsHostMoves) {
    Workers workers{rules(Direction::In, kValues), kWorkers, with_lines()};
    EXPECT_EQ(show(workers, kHome, kOne, 1, 4), 4U);
    fill(workers, kAway);
    begin(workers, Direction::Out, kValues);
    EXPECT_EQ(show(workers, kAway, kOne, 101, 150), kOfNetwork - 4);
    EXPECT_EQ(show(workers, kAway, kOne, 101, 110), 10U);
}

// While they move each of them is weighed, since the worker before may still charge it.
TEST(MovingFull, AHostIsWeighedWhileItMoves) {
    Workers workers{rules(Direction::In), kWorkers, small_tables()};
    EXPECT_EQ(pass(workers, kHome, {"10.0.1.", 1, 1}, 3), 3U);
    fill(workers, kAway);
    begin(workers, Direction::Out);
    EXPECT_EQ(pass(workers, kAway, {"10.0.1.", 1, 1}, 30), 30U);
    EXPECT_EQ(pass(workers, kHome, {"10.0.1.", 1, 1}, 2), 0U);
    EXPECT_EQ(pass(workers, kAway, {"10.0.1.", 1, 1}, 30), kOfNetwork - 3 - 30);
    workers.end_apply(kStart);
    EXPECT_EQ(pass(workers, kAway, {"10.0.1.", 1, 1}, 30), 0U);
}

// Where the network has no place either, the rule is charged with what both owed.
TEST(MovingFull, ANetworkWithoutAPlaceOwesWhatItOwed) {
    for (const std::uint64_t used : {std::uint64_t{25}, kOfNetwork}) {
        Workers workers{rules(Direction::In), kWorkers, small_tables()};
        fill(workers, kHome);
        EXPECT_EQ(pass(workers, kHome, {"10.0.1.", 1, static_cast<int>(used)}), used);
        fill(workers, kAway, Full::Networks);
        begin(workers, Direction::Out);
        const std::uint64_t now = used < kOfNetwork ? 1 : 0;
        EXPECT_EQ(pass(workers, kAway, {"10.0.1.", 50, 50}), now);
        workers.end_apply(kStart);
        const std::uint64_t left = used < kOfNetwork ? kOfRule - used - now : 0;
        EXPECT_EQ(pass(workers, kAway, {"10.0.1.", 1, 200}, 5), left);
    }
}

// Limits that workers share from the reload on.

constexpr std::uint64_t kMuch = 400;

std::string shared_rules(bool shared) {
    const std::string text =
        "version: 1\ndefaults: {mode: enforce}\nrules:\n  - id: r\n    when: ip.dst ne "
        "192.0.2.99\n    key: [ip.src]\n    on_full: {coarsen: {factor: 4}}\n    limits: "
        "[{algorithm: token_bucket, rate: 1/h, burst: 400}]\n";
    return shared ? text +
                        "  - {id: other, when: ip.dst eq 192.0.2.98, key: [ip.dst], limits: "
                        "[{algorithm: token_bucket, rate: 1000/s, burst: 3}]}\n"
                  : text;
}

// At all workers in turn that have no places left; they tell each other.
std::uint64_t pass_away(Workers& workers, const Hosts& hosts, int rounds) {
    std::uint64_t passed = 0;
    for (int i = 0; i < rounds; ++i) {
        for (const std::size_t at : {std::size_t{0}, kAway}) {
            passed += pass(workers, at, hosts);
            workers.turns(kStart);
        }
    }
    return passed;
}

TEST(MovingFull, WorkersThatShareANetworkKnowWhatItsHostsOwed) {
    Workers workers{shared_rules(false), kWorkers, {.keys = 1}};
    EXPECT_EQ(pass(workers, kHome, kFour, 100), 4 * 100U);
    fill(workers, 0);
    fill(workers, kAway);
    workers.apply(shared_rules(true), kStart);
    ASSERT_EQ(workers.limit().scope, LimitScope::Merged);
    const std::uint64_t ahead = (kWorkers - 1) * workers.limit().shared;
    const std::uint64_t passed = pass_away(workers, kFour, 300);
    EXPECT_LE(passed, 4 * kMuch - 4 * 100 + ahead);
    EXPECT_GE(passed, 4 * kMuch - 4 * 100);
}

TEST(MovingFull, WorkersThatShareANetworkKnowWhatItOwed) {
    Workers workers{shared_rules(false), kWorkers, {.keys = 1}};
    fill(workers, 0);
    fill(workers, kHome);
    fill(workers, kAway);
    EXPECT_EQ(pass(workers, kHome, kFour, 300), 4 * 300U);
    workers.apply(shared_rules(true), kStart);
    const std::uint64_t ahead = (kWorkers - 1) * workers.limit().shared;
    const std::uint64_t passed = pass_away(workers, kFour, 200);
    EXPECT_LE(passed, 4 * kMuch - 4 * 300 + ahead);
    EXPECT_GE(passed, 4 * kMuch - 4 * 300);
}

// However often rules come and go, no host gets more than its network is to have.
TEST(MovingFull, AnyChainOfMovesAddsUp) {
    for (unsigned seed = 1; seed <= 30; ++seed) {
        std::mt19937 random{seed};
        Workers workers{rules(Direction::In), kWorkers, small_tables()};
        fill(workers, kAway);
        std::map<int, std::uint64_t> passed;
        Direction dir = Direction::In;
        for (int i = 0; i < 40; ++i) {
            const int host = 1 + static_cast<int>(random() % 4);
            const std::size_t at = dir == Direction::In ? kHome : kAway;
            passed[host] +=
                pass(workers, at, {"10.0.1.", host, host}, static_cast<int>(random() % 8));
            if (random() % 4 == 0) {
                dir = dir == Direction::In ? Direction::Out : Direction::In;
                ASSERT_TRUE(workers.begin_apply(rules(dir)));
                workers.come_from(dir);
            } else if (random() % 3 != 0) {
                workers.end_apply(kStart);
            }
        }
        std::uint64_t all = 0;
        for (const auto& [host, count] : passed) {
            EXPECT_LE(count, kOfNetwork) << seed;
            all += count;
        }
        EXPECT_LE(all, 4 * kBurst + kOfNetwork) << seed;
        EXPECT_GE(all, kBurst) << seed;
    }
}

}  // namespace
}  // namespace sluice::debt_migration_full_test
