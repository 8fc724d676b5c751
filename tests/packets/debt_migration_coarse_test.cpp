#include "tests/packets/frame.hpp"
#include "tests/packets/workers.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>

// Reloads that bring keys to other workers which have no places of their own: what they owe lies in
// the buckets of their networks, or of the whole rule.
namespace sluice::debt_migration_coarse_test {
namespace {

using namespace std::chrono_literals;
using test::Workers;

constexpr Instant kStart{1h};
constexpr std::size_t kWorkers = 4;
constexpr std::size_t kHome = 1;     // whom all packets come to at first
constexpr std::size_t kOneLine = 1;  // four places for keys, and four for networks
constexpr std::uint64_t kBurst = 10;
constexpr std::uint64_t kOfNetwork = 4 * kBurst;
constexpr std::uint64_t kOfRule = 64 * kBurst;

// One rule over sources; another one decides that its packets are judged by their owners.
std::string rules(bool at_owners) {
    const std::string text =
        "version: 1\ndefaults: {mode: enforce}\nrules:\n  - id: r\n    when: ip.dst ne "
        "192.0.2.99\n    key: [ip.src]\n    on_full: {coarsen: {factor: 4}}\n    limits: "
        "[{algorithm: token_bucket, rate: 1/h, burst: 10}]\n";
    return at_owners ? text +
                           "    overrides: {inline: [{key: 10.9.9.9, exempt: true}]}\n  - {id: "
                           "other, when: ip.dst eq 192.0.2.98, key: [ip.dst], limits: "
                           "[{algorithm: token_bucket, rate: 1000/s, burst: 3}]}\n"
                     : text;
}

struct From {
    std::string network;  // "10.0.1."
    bool at_home;         // else at each worker in turn
};

// Five packets of each of thirty hosts: how many pass.
std::uint64_t flood(Workers& workers, const From& from, Instant now = kStart) {
    std::uint64_t passed = 0;
    for (std::size_t i = 0; i < 150; ++i) {
        auto frame =
            test::udp().src(from.network + std::to_string(1 + i % 30)).dst("192.0.2.1").bytes();
        const std::size_t at = from.at_home ? kHome : i % kWorkers;
        passed += workers.judge(at, frame, now).verdict == Verdict::Pass ? 1 : 0;
    }
    return passed;
}

void fill(Workers& workers, std::size_t worker) {
    for (int i = 1; i <= 4; ++i) {
        auto frame = test::udp().src("10.9." + std::to_string(worker) + "." + std::to_string(i));
        EXPECT_EQ(workers.judge(worker, frame.dst("192.0.2.1").bytes(), kStart).verdict,
                  Verdict::Pass);
    }
}

// The four places of each worker are taken, so the others of their networks have none either.
void fill_all(Workers& workers) {
    for (std::size_t worker = 0; worker < kWorkers; ++worker) {
        fill(workers, worker);
    }
}

TEST(MovingCoarse, ANetworkThatIsExhaustedIsGivenNothing) {
    for (const bool full : {false, true}) {
        Workers workers{rules(false), kWorkers, {.keys = kOneLine}};
        fill(workers, kHome);
        if (full) {
            fill_all(workers);
        }
        const std::string network = "10.0.1.";
        EXPECT_EQ(flood(workers, {network, true}), kOfNetwork);
        workers.apply(rules(true), kStart);
        EXPECT_EQ(flood(workers, {network, false}), 0U) << full;
        EXPECT_GT(workers.moved_debts(), 0U);
        // And back again.
        workers.apply(rules(false), kStart);
        EXPECT_EQ(flood(workers, {network, true}), 0U) << full;
    }
}

TEST(MovingCoarse, WhatIsLeftOfANetworkIsLeft) {
    Workers workers{rules(false), kWorkers, {.keys = kOneLine}};
    fill_all(workers);
    std::uint64_t passed = 0;
    for (int i = 1; i <= 25; ++i) {
        const auto frame = test::udp().src("10.0.1." + std::to_string(i)).bytes();
        passed += workers.judge(kHome, frame, kStart).verdict == Verdict::Pass ? 1 : 0;
    }
    EXPECT_EQ(passed, 25U);
    workers.apply(rules(true), kStart);
    EXPECT_EQ(flood(workers, {"10.0.1.", false}), kOfNetwork - 25);
}

// More networks than have places: those beyond are charged to the rule as a whole.
TEST(MovingCoarse, ARuleThatIsExhaustedIsGivenNothing) {
    Workers workers{rules(false), kWorkers, {.keys = kOneLine}};
    fill_all(workers);
    std::uint64_t passed = 0;
    for (int net = 0; net < 30; ++net) {
        passed += flood(workers, {"10.1." + std::to_string(net) + ".", true});
    }
    EXPECT_EQ(passed, 4 * kOfNetwork + kOfRule);
    workers.apply(rules(true), kStart);
    for (int net = 0; net < 40; ++net) {
        EXPECT_EQ(flood(workers, {"10.1." + std::to_string(net) + ".", false}), 0U) << net;
    }
}

}  // namespace
}  // namespace sluice::debt_migration_coarse_test
