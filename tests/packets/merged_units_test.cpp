#include "tests/packets/dns_bytes.hpp"
#include "tests/packets/frame.hpp"
#include "tests/packets/workers.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

// Packets of several units, each with a key of its own that several workers spend: what is charged
// is noted for the owner, however few records are left.
namespace sluice::merged_units_test {
namespace {

using namespace std::chrono_literals;
using test::Workers;

constexpr Instant kStart{1h};
constexpr int kNames = 32;
constexpr int kCount = 20;

std::string name(int number) {
    return "n" + std::to_string(number);
}
// One query of eight questions, from `first` on.
std::vector<std::byte> eight_questions(int first) {
    std::string body;
    for (int i = 0; i < 8; ++i) {
        body += test::dns_question(name(first + i));
    }
    return test::udp()
        .src("10.0.0.1")
        .dport(53)
        .carries(test::message_octets(test::DnsText{.questions = 8, .body = body}.wire()))
        .bytes();
}
std::vector<std::byte> one_question(int number) {
    return test::udp()
        .src("10.0.0.1")
        .dport(53)
        .carries(test::message_octets(test::dns_query(name(number))))
        .bytes();
}
std::string rules(const std::string& limits, const std::string& more = "") {
    return "version: 1\nrules:\n  - id: names\n    mode: enforce\n    key: [dns.qname]\n"
           "    per: query\n    max_unsynced: 1\n" +
           more + "    limits: [" + limits + "]\n";
}

// Each name has its count, and one more at the worker that does not own it, however often records
// have run out within a packet meanwhile.
void expect_bound(const std::string& text, std::size_t records) {
    SCOPED_TRACE(text + std::to_string(records));
    Workers workers{text, 2, {.records = records}};
    ASSERT_EQ(workers.limit().shared, 1U);
    std::array<int, kNames> admitted{};
    for (int round = 0; round < 2 * kCount; ++round) {
        for (int first = 0; first < kNames; first += 8) {
            const Decision decision = workers.judge(0, eight_questions(first), kStart);
            EXPECT_TRUE(forwards(decision.verdict) || decision.reason == Reason::NoCredit ||
                        decision.reason == Reason::OverLimit);
            for (int i = first; forwards(decision.verdict) && i < first + 8; ++i) {
                ++admitted[static_cast<std::size_t>(i)];
            }
        }
        workers.turns(kStart);
    }
    EXPECT_GT(workers.counted(TableEvent::CreditClosed), 0U);
    for (int number = 0; number < kNames; ++number) {
        int& all = admitted[static_cast<std::size_t>(number)];
        for (std::size_t i = 0; i < 2 * kCount; ++i) {
            const Decision decision = workers.judge(i % 2, one_question(number), kStart);
            all += forwards(decision.verdict) ? 1 : 0;
            workers.turns(kStart);
        }
        EXPECT_GE(all, kCount) << name(number);
        EXPECT_LE(all, kCount + 1) << name(number);
    }
}
void expect_bound(const std::string& text) {
    for (std::size_t records = 8; records < 13; ++records) {
        expect_bound(text, records);
    }
}

TEST(MergedUnits, WhatIsChargedIsNotedForEachUnit) {
    expect_bound(rules("{algorithm: token_bucket, rate: 1/d, burst: 20}"));
    expect_bound(rules("{algorithm: fixed_window, count: 20, window: 1d}"));
}

// A rule that only watches spends what fits of what it refuses, and takes no record from the one
// that admits.
TEST(MergedUnits, WhatIsRefusedTakesNoRecordFromWhatIsAdmitted) {
    expect_bound(rules("{algorithm: token_bucket, rate: 1/d, burst: 20}") +
                 "  - {id: watch, mode: monitor, rejected_spend: true, key: [dns.qname, ip.src], "
                 "per: query, "
                 "limits: [{algorithm: token_bucket, rate: 1/d, burst: 1}]}\n");
}

}  // namespace
}  // namespace sluice::merged_units_test
