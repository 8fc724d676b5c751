#include "tests/packets/verdict_case.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <random>
#include <string>
#include <vector>

// The action `shape`: which packets are held, for how long, and what they are charged.
namespace sluice::shape_cases_test {
namespace {

using namespace std::chrono_literals;
using test::Box;
using test::Case;
using test::kStart;
using test::tcp;
using test::udp;

#define SHAPE_HEAD "version: 1\nrules:\n"
#define SHAPE_RULE SHAPE_HEAD "  - id: r\n    mode: enforce\n    key: [ip.src]\n"
#define SHAPE_TOKENS SHAPE_RULE "    limits: [{algorithm: token_bucket, rate: 10/s, burst: 2}]\n"
#define SHAPE_TEN SHAPE_RULE "    limits: [{algorithm: leaky_bucket, rate: 10/s, queue: 10}]\n"
#define SHAPE_QUEUE SHAPE_RULE "    limits: [{algorithm: leaky_bucket, rate: 10/s, queue: 4}]\n"
#define SHAPE_ELSE_DROP(delay) "    on_exceed: {action: shape, max_delay: " delay "}\n"
#define SHAPE_ELSE_PASS(delay) \
    "    on_exceed: {action: shape, max_delay: " delay ", overflow: pass}\n"

#define SHAPE_SOURCE(limit)                                                      \
    "  - {id: source, mode: enforce, key: [ip.src], limits: [{algorithm: " limit \
    "}],"                                                                        \
    " on_exceed: {action: shape, max_delay: 1s}}\n"
#define SHAPE_WEB                                                                       \
    "  - {id: web, mode: enforce, when: l4.dport eq 80, key: [], limits: [{algorithm: " \
    "leaky_bucket, rate: 2/s, queue: 9}], on_exceed: {action: shape, max_delay: 1s}}\n"

const test::Frame kWeb = udp().src("10.0.0.1").dport(80).size(114);
const test::Frame kPacket = udp().src("10.0.0.1").size(114);  // 100 bytes of IP
const test::Frame kLarge = udp().src("10.0.0.1").size(314);   // 300 bytes of IP
const test::Frame kOther = udp().src("10.0.0.2").size(114);

const Case kCases[] = {
    {"token_bucket: beyond the burst each departs when it conforms, the next one behind it",
     SHAPE_TOKENS SHAPE_ELSE_DROP("1s"),
     {{0ms, kPacket, "pass", "within_limits"},
      {0ms, kPacket, "pass", "within_limits"},
      {0ms, kPacket, "shape", "over_limit", "r", 100ms},
      {0ms, kPacket, "shape", "over_limit", "r", 200ms},
      {0ms, kOther, "pass", "within_limits"},
      {50ms, kPacket, "shape", "over_limit", "r", 250ms},
      {400ms, kPacket, "pass", "within_limits"}}},

    {"leaky_bucket: what is within the queue departs at even distances",
     SHAPE_QUEUE SHAPE_ELSE_DROP("1s"),
     {{0ms, kPacket, "pass", "within_limits"},
      {0ms, kPacket, "shape", "over_limit", "r", 100ms},
      {0ms, kPacket, "shape", "over_limit", "r", 200ms},
      {0ms, kPacket, "shape", "over_limit", "r", 300ms},
      {0ms, kPacket, "drop", "over_limit", "r", 100ms},
      {30ms, kOther, "pass", "within_limits"},
      {130ms, kPacket, "shape", "over_limit", "r", 270ms},
      {500ms, kPacket, "pass", "within_limits"}}},

    {"a queue of ten takes ten at once: nine of them wait",
     SHAPE_TEN SHAPE_ELSE_DROP("1s"),
     {{0ms, kPacket, "pass", "within_limits"},
      {0ms, kPacket, "shape", "over_limit", "r", 100ms},
      {0ms, kPacket, "shape", "over_limit", "r", 200ms},
      {0ms, kPacket, "shape", "over_limit", "r", 300ms},
      {0ms, kPacket, "shape", "over_limit", "r", 400ms},
      {0ms, kPacket, "shape", "over_limit", "r", 500ms},
      {0ms, kPacket, "shape", "over_limit", "r", 600ms},
      {0ms, kPacket, "shape", "over_limit", "r", 700ms},
      {0ms, kPacket, "shape", "over_limit", "r", 800ms},
      {0ms, kPacket, "shape", "over_limit", "r", 900ms},
      {0ms, kPacket, "drop", "over_limit", "r", 100ms}}},

    {"what would wait longer than max_delay is dropped, and spends nothing",
     SHAPE_QUEUE SHAPE_ELSE_DROP("150ms"),
     {{0ms, kPacket, "pass", "within_limits"},
      {0ms, kPacket, "shape", "over_limit", "r", 100ms},
      {0ms, kPacket, "drop", "over_limit", "r"},
      {0ms, kPacket, "drop", "over_limit", "r"},
      {50ms, kPacket, "shape", "over_limit", "r", 150ms},
      {50ms, kPacket, "drop", "over_limit", "r"}}},

    {"overflow: pass lets it go at once, and it spends nothing",
     SHAPE_QUEUE SHAPE_ELSE_PASS("100ms"),
     {{0ms, kPacket, "pass", "within_limits"},
      {0ms, kPacket, "shape", "over_limit", "r", 100ms},
      {0ms, kPacket, "pass", "over_limit", "r"},
      {0ms, kPacket, "pass", "over_limit", "r"},
      {100ms, kPacket, "shape", "over_limit", "r", 100ms}}},

    {"bytes: a large packet waits for all of them, and a small one behind it does not overtake it",
     SHAPE_RULE "    per: byte\n    limits: [{algorithm: token_bucket, rate: 1KB/s, burst: "
                "300B}]\n" SHAPE_ELSE_DROP("1s"),
     {{0ms, kLarge, "pass", "within_limits"},
      {0ms, kLarge, "shape", "over_limit", "r", 300ms},
      {0ms, kPacket, "shape", "over_limit", "r", 400ms},
      {350ms, kPacket, "shape", "over_limit", "r", 150ms}}},

    {"a packet that is larger than the bucket never departs",
     SHAPE_RULE "    per: byte\n    limits: [{algorithm: token_bucket, rate: 1KB/s, burst: "
                "200B}]\n" SHAPE_ELSE_DROP("1m"),
     {{0ms, kLarge, "drop", "over_limit", "r", kNever}, {0ms, kPacket, "pass", "within_limits"}}},

    {"of several limits the longest delay holds",
     SHAPE_RULE "    limits: [{algorithm: token_bucket, rate: 10/s, burst: 1},"
                " {algorithm: token_bucket, rate: 1/s, burst: 2}]\n" SHAPE_ELSE_DROP("3s"),
     {{0ms, kPacket, "pass", "within_limits"},
      {0ms, kPacket, "shape", "over_limit", "r", 100ms},
      {0ms, kPacket, "shape", "over_limit", "r", 1s},
      {0ms, kPacket, "shape", "over_limit", "r", 2s},
      {0ms, kPacket, "shape", "over_limit", "r", 3s},
      {0ms, kPacket, "drop", "over_limit", "r", 4s}}},

    {"of several shapers the latest departure holds, and a drop wins",
     SHAPE_HEAD "  - {id: a, mode: enforce, key: [ip.src], limits: [{algorithm: leaky_bucket, "
                "rate: 10/s, queue: 9}], on_exceed: {action: shape, max_delay: 1s}}\n"
                "  - {id: b, mode: enforce, key: [], limits: [{algorithm: leaky_bucket, "
                "rate: 5/s, queue: 9}], on_exceed: {action: shape, max_delay: 1s}}\n"
                "  - {id: c, mode: enforce, key: [], limits: [{algorithm: token_bucket, rate: 1/d, "
                "burst: 3}]}\n",
     {{0ms, kPacket, "pass", "within_limits"},
      {0ms, kPacket, "shape", "over_limit", "a", 200ms},
      {0ms, kOther, "shape", "over_limit", "b", 400ms},
      {0ms, kPacket, "drop", "over_limit", "c", 86'400s},
      {200ms, kOther, "drop", "over_limit", "c", 86'399'800ms}}},

    {"what one of several shapers holds is not overtaken by what the others alone delay",
     SHAPE_HEAD SHAPE_SOURCE("leaky_bucket, rate: 10/s, queue: 9") SHAPE_WEB,
     {{0ms, kWeb, "pass", "within_limits"},
      {0ms, kWeb, "shape", "over_limit", "source", 500ms},
      {0ms, kPacket, "shape", "over_limit", "source", 600ms},
      {0ms, kOther, "pass", "within_limits"},
      {400ms, kPacket, "shape", "over_limit", "source", 300ms},
      {800ms, kPacket, "pass", "within_limits"}}},

    {"nor by what has tokens, which is charged as of its departure",
     SHAPE_HEAD SHAPE_SOURCE("token_bucket, rate: 10/s, burst: 3") SHAPE_WEB,
     {{0ms, kWeb, "pass", "within_limits"},
      {0ms, kWeb, "shape", "over_limit", "web", 500ms},
      {0ms, kPacket, "shape", "over_limit", "source", 500ms},
      {0ms, kPacket, "shape", "over_limit", "source", 500ms},
      {0ms, kPacket, "shape", "over_limit", "source", 600ms},
      {0ms, kOther, "pass", "within_limits"}}},

    {"tiers: each keeps its rate where another one delays",
     SHAPE_HEAD
     "  - id: r\n    mode: enforce\n    tiers:\n"
     "      - {key: [ip.src], limits: [{algorithm: leaky_bucket, rate: 10/s, queue: 9}]}\n"
     "      - {key: [], limits: [{algorithm: leaky_bucket, rate: 100/s, queue: "
     "99}]}\n" SHAPE_ELSE_DROP("1s"),
     {{0ms, kPacket, "pass", "within_limits"},
      {0ms, kPacket, "shape", "over_limit", "r", 100ms},
      {0ms, kOther, "shape", "over_limit", "r", 110ms},
      {0ms, kOther, "shape", "over_limit", "r", 210ms},
      {0ms, kPacket, "shape", "over_limit", "r", 220ms}}},

    {"a monitoring rule holds nothing, and spends what conforms",
     SHAPE_HEAD "  - {id: m, mode: monitor, key: [ip.src], limits: [{algorithm: leaky_bucket, "
                "rate: 10/s, queue: 4}], on_exceed: {action: shape, max_delay: 1s}}\n",
     {{0ms, kPacket, "pass", "unmatched"},
      {0ms, kPacket, "pass", "unmatched"},
      {100ms, kPacket, "pass", "unmatched"}}},
};

class ShapeCases : public testing::TestWithParam<Case> {};
TEST_P(ShapeCases, HaveTheseVerdicts) {
    test::expect_case(GetParam());
}
INSTANTIATE_TEST_SUITE_P(All, ShapeCases, testing::ValuesIn(kCases));

TEST(Shape, CountsWhatExceedsInTheFileAndByMode) {
    Box box{SHAPE_TOKENS SHAPE_ELSE_DROP("100ms")};
    for (int i = 0; i < 5; ++i) {
        (void)box.judge(kPacket.bytes(), kStart);
    }
    EXPECT_EQ(box.counters(0).admitted.read(), 2U);
    EXPECT_EQ(box.counters(0).exceeded.read(), 3U);
}

// As many as there is room for are held; what comes behind them goes by overflow, is told apart,
// and spends nothing.
TEST(Shape, WithoutRoomToHoldOverflowDecides) {
    Box box{SHAPE_TOKENS SHAPE_ELSE_DROP("1m")};
    box.set_hold_capacity(2);
    std::vector<std::string> got;
    for (int i = 0; i < 6; ++i) {
        const Decision decision = box.judge(kPacket.bytes(), kStart);
        got.push_back(std::string{name_of(decision.verdict)} + " " +
                      std::string{row_of(decision.reason).name});
    }
    EXPECT_EQ(got, (std::vector<std::string>{"pass within_limits", "pass within_limits",
                                             "shape over_limit", "shape over_limit",
                                             "drop hold_full", "drop hold_full"}));
    box.set_hold_capacity(1);
    EXPECT_EQ(box.judge(kPacket.bytes(), kStart).wait, 300ms);
}

// In a burst as one by one.
TEST(Shape, OneBurstIsShapedInOrder) {
    Box box{SHAPE_QUEUE SHAPE_ELSE_DROP("1s")};
    const std::vector<Decision> decisions =
        box.judge_burst(std::vector(5, kPacket.bytes()), kStart);
    std::vector<Nanoseconds> waits;
    for (const Decision& decision : decisions) {
        waits.push_back(decision.verdict == Verdict::Shape ? decision.wait : -1ns);
    }
    EXPECT_EQ(waits, (std::vector<Nanoseconds>{-1ns, 100ms, 200ms, 300ms, -1ns}));
}

// The rate that a reload brings holds for what comes from then on, behind what is held.
TEST(Shape, AReloadWithAHigherRateLetsNothingOvertake) {
    Box box{SHAPE_QUEUE SHAPE_ELSE_DROP("1s")};
    (void)box.judge_burst(std::vector(4, kPacket.bytes()), kStart);
    const Result<Done> taken = box.reload(
        SHAPE_RULE
        "    limits: [{algorithm: leaky_bucket, rate: 20/s, queue: 19}]\n" SHAPE_ELSE_DROP("1s"));
    ASSERT_TRUE(taken) << taken.error().what;
    EXPECT_EQ(box.judge(kPacket.bytes(), kStart).wait, 400ms);
    EXPECT_EQ(box.judge(kPacket.bytes(), kStart).wait, 450ms);
    EXPECT_EQ(box.judge(kOther.bytes(), kStart).wait, 0ms);
}

TEST(Shape, AReloadLetsNoTokenOvertake) {
    Box box{SHAPE_TOKENS SHAPE_ELSE_DROP("1s")};
    (void)box.judge_burst(std::vector(6, kPacket.bytes()), kStart);
    const Result<Done> taken = box.reload(
        SHAPE_RULE
        "    limits: [{algorithm: token_bucket, rate: 1K/s, burst: 9}]\n" SHAPE_ELSE_DROP("1s"));
    ASSERT_TRUE(taken) << taken.error().what;
    EXPECT_EQ(box.judge(kPacket.bytes(), kStart).wait, 400ms);
    EXPECT_EQ(box.judge(kPacket.bytes(), kStart + 399ms).wait, 1ms);
    EXPECT_EQ(box.judge(kPacket.bytes(), kStart + 401ms).wait, 0ms);
}

// What departs, by key of each limit.
using Departures = std::map<unsigned, std::vector<Nanoseconds>>;

void expect_in_order_within(const Departures& departures, std::size_t burst, double per_second) {
    for (const auto& [key, at] : departures) {
        EXPECT_TRUE(std::is_sorted(at.begin(), at.end())) << "key " << key;
        for (std::size_t first = 0; first < at.size(); ++first) {
            for (std::size_t last = first; last < at.size(); ++last) {
                const double seconds = std::chrono::duration<double>{at[last] - at[first]}.count();
                ASSERT_LE(static_cast<double>(last - first + 1),
                          static_cast<double>(burst) + per_second * seconds + 1e-6)
                    << "key " << key << ", from packet " << first << " to " << last;
            }
        }
    }
}

// Limits over keys that cross, whose packets delay each other: what departs is in order within each
// key, and never more than each limit lets through in any window.
TEST(Shape, AnyLimitsThatCrossKeepTheirOrderAndTheirRates) {
    const unsigned seed = std::random_device{}();
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937 random{seed};
    Box box{SHAPE_HEAD SHAPE_SOURCE("token_bucket, rate: 10/s, burst: 3")
                "  - {id: port, mode: enforce, key: [l4.dport], limits: [{algorithm: leaky_bucket, "
                "rate: 15/s, queue: 9}], on_exceed: {action: shape, max_delay: 1s}}\n"
                "  - {id: all, mode: enforce, when: l4.dport le 81, key: [], limits: [{algorithm: "
                "leaky_bucket, rate: 20/s, queue: 9}], on_exceed: {action: shape, max_delay: 1s}}\n"};
    Departures by_source;
    Departures by_port;
    Departures by_all;
    Instant now = kStart;
    unsigned held = 0;
    for (int i = 0; i < 1000; ++i) {
        now += std::chrono::milliseconds{random() % 60};
        const auto source = static_cast<unsigned>(random() % 3);
        const auto port = static_cast<std::uint16_t>(80 + random() % 3);
        const test::Frame frame =
            udp().src("10.0.0." + std::to_string(1 + source)).dport(port).size(114);
        const Decision got = box.judge(frame.bytes(), now);
        if (!forwards(got.verdict)) {
            continue;
        }
        held += got.verdict == Verdict::Shape ? 1 : 0;
        const Nanoseconds leaves = now + got.wait - kStart;
        by_source[source].push_back(leaves);
        by_port[port].push_back(leaves);
        if (port <= 81) {
            by_all[0].push_back(leaves);
        }
    }
    EXPECT_GT(held, 100U);
    expect_in_order_within(by_source, 3, 10);
    expect_in_order_within(by_port, 1, 15);
    expect_in_order_within(by_all, 1, 20);
}

}  // namespace
}  // namespace sluice::shape_cases_test
