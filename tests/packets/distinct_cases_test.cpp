#include "tests/packets/verdict_case.hpp"

#include <string>

// Limits of different values, packet by packet: what is new, what counts already, and for how long.
namespace sluice::distinct_cases_test {
namespace {

using namespace std::chrono_literals;
using test::Box;
using test::Case;
using test::Frame;
using test::kStart;
using test::tcp;
using test::udp;

#define HEAD "version: 1\nrules:\n  - id: r\n    mode: enforce\n    key: [ip.src]\n"
#define RULE(limit) HEAD "    limits: [" limit "]\n"
#define TWO_PORTS RULE("{algorithm: distinct, of: l4.dport, count: 2, window: 2s}")
#define PASS "pass", "within_limits"
#define WAITS(time) "drop", "over_limit", "r", time

Frame to(std::uint16_t port, std::string_view source = "10.0.0.1") {
    return udp().src(source).dst("10.9.9.9").dport(port);
}
Frame at(std::string_view host) {
    return udp().src("10.0.0.1").dst(host).dport(53);
}

// The box starts one hour after its clock's epoch, at the beginning of a half of a window of 2 s.
const Case kCases[] = {
    {"two ports of a source, and those again",
     TWO_PORTS,
     {{0ms, to(1), PASS},
      {0ms, to(2), PASS},
      {0ms, to(1), PASS},
      {0ms, to(3), WAITS(2s)},
      {0ms, to(3, "10.0.0.2"), PASS},
      {0ms, to(2), PASS}}},

    {"a value counts in the half that it was last shown in, and in the next",
     TWO_PORTS,
     {{0ms, to(1), PASS},
      {0ms, to(2), PASS},
      {1500ms, to(1), PASS},
      {1500ms, to(3), WAITS(500ms)},
      {2000ms, to(3), PASS},
      {2000ms, to(2), WAITS(1s)},
      {2000ms, to(1), PASS},
      {3000ms, to(2), WAITS(1s)},
      {4000ms, to(2), PASS}}},

    {"what is refused does not count",
     TWO_PORTS,
     {{0ms, to(1), PASS},
      {0ms, to(2), PASS},
      {1900ms, to(3), WAITS(100ms)},
      {2000ms, to(4), PASS},
      {2000ms, to(5), PASS},
      {2000ms, to(3), WAITS(2s)}}},

    {"a packet without the field shows nothing",
     TWO_PORTS,
     {{0ms, to(1), PASS},
      {0ms, to(2), PASS},
      {0ms, test::icmp(8, 0).src("10.0.0.1"), "pass", "unmatched"},
      {0ms, to(3), WAITS(2s)}}},

    {"hosts, and their networks",
     RULE("{algorithm: distinct, of: \"prefix(ip.dst, 24|64)\", count: 1, window: 2s}"),
     {{0ms, at("10.9.9.1"), PASS}, {0ms, at("10.9.9.2"), PASS}, {0ms, at("10.9.8.1"), WAITS(2s)}}},

    {"beside another limit, which charges what passes both",
     RULE("{algorithm: distinct, of: l4.dport, count: 1, window: 1h}, {algorithm: token_bucket, "
          "rate: 1/s, burst: 2}"),
     {{0ms, to(1), PASS}, {0ms, to(2), WAITS(1h)}, {0ms, to(1), PASS}, {0ms, to(1), WAITS(1s)}}},

    {"of connections, the SYNs alone show one",
     RULE("{algorithm: distinct, per: connection, of: l4.dport, count: 1, window: 2s}"),
     {{0ms, tcp().src("10.0.0.1").dport(1).flags(2), PASS},
      {0ms, tcp().src("10.0.0.1").dport(2).flags(16), "pass", "unmatched"},
      {0ms, tcp().src("10.0.0.1").dport(2).flags(2), WAITS(2s)}}},

    {"a scan is banned",
     "version: 1\nrules:\n  - id: r\n    mode: enforce\n    key: [ip.src]\n    limits: "
     "[{algorithm: "
     "distinct, of: l4.dport, count: 1, window: 2s}]\n    ban: {after: 2, within: 1m, for: 10m}\n",
     {{0ms, to(1), PASS},
      {0ms, to(2), WAITS(2s)},
      {0ms, to(3), WAITS(2s)},
      {0ms, to(1), "drop", "banned", "r", 10min}}},
};

class Distinct : public testing::TestWithParam<Case> {};

TEST_P(Distinct, HasItsVerdicts) {
    Box box{GetParam().rules};
    test::expect_steps(box, GetParam());
}

INSTANTIATE_TEST_SUITE_P(All, Distinct, testing::ValuesIn(kCases),
                         [](const auto& row) { return "row_" + std::to_string(row.index); });

std::string with_count(int count, std::string_view more = "") {
    return "version: 1\nrules:\n  - id: r\n    mode: enforce\n    key: [ip.src]\n" +
           std::string{more} +
           "    limits: [{algorithm: distinct, of: l4.dport, window: 1h, count: " +
           std::to_string(count) + "}]\n";
}
bool passes(Box& box, const Frame& frame) {
    return box.judge(frame, kStart).verdict == Verdict::Pass;
}

// Values that count go on under another count, be it smaller than they are many.
TEST(DistinctReload, KeepsTheValues) {
    Box box{with_count(2)};
    EXPECT_TRUE(passes(box, to(1)));
    EXPECT_TRUE(passes(box, to(2)));
    EXPECT_FALSE(passes(box, to(3)));
    ASSERT_TRUE(box.reload(with_count(3)));
    EXPECT_TRUE(passes(box, to(3)));
    EXPECT_FALSE(passes(box, to(4)));
    ASSERT_TRUE(box.reload(with_count(1)));
    EXPECT_TRUE(passes(box, to(2)));
    EXPECT_FALSE(passes(box, to(4)));
    ASSERT_TRUE(box.reload(with_count(4)));
    EXPECT_TRUE(passes(box, to(4)));
    EXPECT_FALSE(passes(box, to(5)));
}

// Another field is another limit.
TEST(DistinctReload, BeginsAnewWithAnotherField) {
    Box box{with_count(1)};
    EXPECT_TRUE(passes(box, to(1)));
    EXPECT_FALSE(passes(box, to(2)));
    std::string other = with_count(1);
    other.replace(other.find("l4.dport"), 8, "l4.sport");
    ASSERT_TRUE(box.reload(other));
    EXPECT_TRUE(passes(box, to(2)));
}

// A line for the bucket and one for values.
TEST(DistinctPool, AsksOnFullWhereItHasNoLine) {
    for (const bool open : {false, true}) {
        const std::string_view on_full = open ? "    on_full: open\n" : "    on_full: closed\n";
        Box box{with_count(100, on_full), BucketStore{64, 2}};
        int passed = 0;
        for (std::uint16_t port = 1; port <= 40; ++port) {
            passed += passes(box, to(port)) ? 1 : 0;
        }
        // A line has 13 values, and a further one 16.
        EXPECT_GE(passed, open ? 40 : 13);
        EXPECT_LE(passed, open ? 40 : 16);
        EXPECT_TRUE(passes(box, to(3))) << "it has a place";
    }
}

// Wider keys stand for those without a line: the count times the factor.
TEST(DistinctPool, CoarsensWhereItHasNoLine) {
    Box box{with_count(100), BucketStore{64, 24}};
    int passed = 0;
    for (int source = 1; source <= 40; ++source) {
        for (std::uint16_t port = 1; port <= 30; ++port) {
            passed += passes(box, to(port, "10.0.0." + std::to_string(source))) ? 1 : 0;
        }
    }
    EXPECT_EQ(passed, 1200) << "40 * 30 values are within 1600";
    int more = 0;
    for (std::uint16_t port = 1; port <= 3000; ++port) {
        more += passes(box, to(port, "10.0.0.99")) ? 1 : 0;
    }
    EXPECT_LE(passed + more, 1600 + 24 * 30);
    EXPECT_LT(more, 1600);
    EXPECT_GE(more, 1600 - passed) << "the wider key has as many left";
}

#undef HEAD
#undef RULE
#undef TWO_PORTS
#undef PASS
#undef WAITS

}  // namespace
}  // namespace sluice::distinct_cases_test
