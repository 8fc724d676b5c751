#include "tests/packets/frame.hpp"
#include "tests/packets/workers.hpp"
#include "tests/rounds.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

// The way of its own that a rule takes which is alone (one_way_test.cpp), where workers share its
// limit: they judge as they do beside another rule that no packet meets, and tell each other as
// much.
namespace sluice::one_way_shared_test {
namespace {

using namespace std::chrono_literals;
using test::Workers;

const int kBursts = test::rounds(2'000);
constexpr std::size_t kWorkers = 4;
constexpr std::size_t kOneLine = 1;  // four places for six destinations

constexpr std::string_view kNeverMet =
    "\n  - {id: never, mode: enforce, when: ip.proto eq 250, on_match: drop}\n";

struct Row {
    const char* name;
    std::string_view rule;  // what follows its mode
    std::size_t keys = 1024;
};

const Row kRows[] = {
    {"by destination",
     "key: [ip.dst], limits: [{algorithm: token_bucket, rate: 10/s, burst: 200}]"},
    {"a period of no whole ns",
     "key: [ip.dst], limits: [{algorithm: token_bucket, rate: 11/s, burst: 200}]"},
    {"bytes",
     "key: [ip.dst], limits: [{algorithm: token_bucket, rate: 900B/s, burst: 128KB, per: byte}]"},
    {"a tag",
     "key: [ip.dst], limits: [{algorithm: token_bucket, rate: 10/s, burst: 200}], "
     "on_exceed: {action: tag, dscp: cs1}"},
    {"open",
     "key: [ip.dst], max_unsynced: 2, on_full: open, "
     "limits: [{algorithm: token_bucket, rate: 10/s, burst: 200}]"},
    {"a full table",
     "key: [ip.dst], on_full: closed, "
     "limits: [{algorithm: token_bucket, rate: 10/s, burst: 200}]",
     kOneLine},
};

std::string rules_of(const Row& row, std::string_view more) {
    return "version: 1\nrules:\n  - {id: each, mode: enforce, " + std::string{row.rule} + "}" +
           std::string{more};
}

std::vector<Workers::Frame> some_frames(std::mt19937_64& random) {
    std::vector<Workers::Frame> frames(random() % (kMaxBurst + 1));
    for (Workers::Frame& frame : frames) {
        const std::string host = std::to_string(1 + random() % 3);
        switch (random() % 10) {
            case 0:
                frame = test::arp().bytes();
                break;
            case 1:
                frame = test::udp().src("10.0.0.1").dst("192.0.2." + host).ihl(3).bytes();
                break;
            case 2:
                frame = test::udp().src("2001:db8::1").dst("2001:db8::" + host).bytes();
                break;
            default:
                frame = test::udp().src("10.0.0.1").dst("192.0.2." + host).size(1200).bytes();
        }
    }
    return frames;
}

void expect_same(const std::vector<Decision>& alone, const std::vector<Decision>& beside) {
    ASSERT_EQ(alone.size(), beside.size());
    for (std::size_t i = 0; i < alone.size(); ++i) {
        EXPECT_EQ(alone[i].verdict, beside[i].verdict) << i;
        EXPECT_EQ(alone[i].reason, beside[i].reason) << i;
        EXPECT_EQ(alone[i].rule, beside[i].rule) << i;
        EXPECT_EQ(alone[i].wait, beside[i].wait) << i;
        EXPECT_EQ(alone[i].action, beside[i].action) << i;
    }
}

std::size_t refused_in(const std::vector<Decision>& decisions) {
    std::size_t refused = 0;
    for (const Decision& decision : decisions) {
        refused += decision.reason == Reason::OverLimit ? 1 : 0;
    }
    return refused;
}

void run_both(const Row& row) {
    Workers alone{rules_of(row, ""), kWorkers, {.keys = row.keys}};
    Workers beside{rules_of(row, kNeverMet), kWorkers, {.keys = row.keys}};
    ASSERT_TRUE(alone.set().has_one_way());
    ASSERT_NE(alone.limit().shared, 0U);
    ASSERT_FALSE(beside.set().has_one_way());
    std::mt19937_64 random{7};
    Instant now{1h};
    std::size_t refused = 0;
    for (int i = 0; i < kBursts && !testing::Test::HasFailure(); ++i) {
        const std::vector<Workers::Frame> frames = some_frames(random);
        const std::size_t at = random() % kWorkers;
        const std::vector<Decision> decisions = alone.judge(at, frames, now);
        expect_same(decisions, beside.judge(at, frames, now));
        refused += refused_in(decisions);
        now += Nanoseconds{static_cast<std::int64_t>(random() % 20'000'000)};
        const std::size_t hears = random() % kWorkers;
        alone.turn(hears, now);
        beside.turn(hears, now);
    }
    EXPECT_GT(refused, 0U);
    EXPECT_GT(alone.told(), 0U);
    EXPECT_EQ(alone.told(), beside.told());
    EXPECT_EQ(alone.unsynced(), beside.unsynced());
}

TEST(OneWayShared, JudgesAndTellsAsTheGeneralWay) {
    for (const Row& row : kRows) {
        SCOPED_TRACE(row.name);
        run_both(row);
    }
}

}  // namespace
}  // namespace sluice::one_way_shared_test
