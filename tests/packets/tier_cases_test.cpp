#include "tests/packets/verdict_case.hpp"

// Several keys in one rule, fine and coarse: all limits of all of them must admit.
namespace sluice::tier_cases_test {
namespace {

using namespace std::chrono_literals;
using test::arp;
using test::Box;
using test::Case;
using test::kStart;
using test::tcp;
using test::udp;

#define RULE "version: 1\nrules:\n  - id: r\n    mode: enforce\n"
#define BUCKET(rate, burst) "[{algorithm: token_bucket, rate: " rate ", burst: " burst "}]"

test::Frame from(std::string_view source) {
    return udp().src(source).dport(53);
}

const Case kCases[] = {
    {"the fine one refuses a source, the coarse one its network",
     RULE
     "    tiers:\n"
     "      - {key: [ip.src], limits: " BUCKET(
         "1/s", "2") "}\n"
                     "      - {key: [\"prefix(ip.src, 24|64)\"], limits: " BUCKET("1/m", "3") "}\n",
     {{0ms, from("10.0.0.1"), "pass", "within_limits"},
      {0ms, from("10.0.0.1"), "pass", "within_limits"},
      // Refused by the fine one, it spends nothing of the coarse one, which has room for one more.
      {0ms, from("10.0.0.1"), "drop", "over_limit", "r", 1s},
      {0ms, from("10.0.0.2"), "pass", "within_limits"},
      {0ms, from("10.0.0.3"), "drop", "over_limit", "r", 60s},
      {0ms, from("10.0.1.3"), "pass", "within_limits"},
      // Both refuse: the longest wait.
      {0ms, from("10.0.0.1"), "drop", "over_limit", "r", 60s},
      {60s, from("10.0.0.3"), "pass", "within_limits"}}},

    {"a tier that lacks a part does not apply, the others do",
     RULE "    tiers:\n"
          "      - {key: [l4.dport], limits: " BUCKET(
              "1/d", "2") "}\n"
                          "      - {key: [ip.src], limits: " BUCKET("1/d", "3") "}\n",
     {{0ms, from("10.0.0.1"), "pass", "within_limits"},
      {0ms, from("10.0.0.1").frag(64, false), "pass", "within_limits"},
      {0ms, arp(), "pass", "unmatched"},
      {0ms, from("10.0.0.1"), "pass", "within_limits"},
      {0ms, from("10.0.0.1").frag(64, false), "drop", "over_limit", "r", 24h},
      {0ms, from("10.0.0.2"), "drop", "over_limit", "r", 24h},
      {0ms, from("10.0.0.2").frag(64, false), "pass", "within_limits"}}},

    {"missing_key: share is a bucket for each tier",
     RULE "    missing_key: share\n    tiers:\n"
          "      - {key: [l4.dport], limits: " BUCKET(
              "1/d", "2") "}\n"
                          "      - {key: [ip.src], limits: " BUCKET("1/h", "3") "}\n",
     {{0ms, from("10.0.0.1").frag(64, false), "pass", "within_limits"},
      {0ms, arp(), "pass", "within_limits"},
      {0ms, arp(), "drop", "over_limit", "r", 24h},
      {0ms, from("10.0.0.1"), "pass", "within_limits"},
      {0ms, from("10.0.0.1"), "pass", "within_limits"},
      {0ms, from("10.0.0.1"), "drop", "over_limit", "r", 24h}}},

    {"one name in two tiers is one limit with two states",
     "version: 1\nlimits:\n  x: {algorithm: token_bucket, rate: 1/s, burst: 2}\n"
     "rules:\n  - id: r\n    mode: enforce\n"
     "    tiers: [{key: [ip.src], limits: [x]}, {key: [ip.dst], limits: [x]}]\n",
     {{0ms, from("10.0.0.1").dst("10.9.0.1"), "pass", "within_limits"},
      {0ms, from("10.0.0.2").dst("10.9.0.1"), "pass", "within_limits"},
      {0ms, from("10.0.0.3").dst("10.9.0.1"), "drop", "over_limit", "r", 1s},
      {0ms, from("10.0.0.1").dst("10.9.0.2"), "pass", "within_limits"},
      {0ms, from("10.0.0.1").dst("10.9.0.3"), "drop", "over_limit", "r", 1s}}},

    {"a tier alone is a key alone",
     RULE "    tiers: [{key: [ip.src], limits: " BUCKET("1/s", "1") "}]\n",
     {{0ms, from("10.0.0.1"), "pass", "within_limits"},
      {0ms, from("10.0.0.1"), "drop", "over_limit", "r", 1s},
      {0ms, from("10.0.0.2"), "pass", "within_limits"}}},

    {"per and cost hold in all of them, a limit's own per wins",
     RULE "    per: connection\n    cost: 2\n    tiers:\n"
          "      - {key: [ip.src], limits: " BUCKET(
              "1/s", "4") "}\n"
                          "      - {key: [], limits: [{algorithm: sliding_log, per: packet, count: "
                          "9, window: 1h}]}\n",
     {{0ms, tcp().src("10.0.0.1").flags(2), "pass", "within_limits"},
      {0ms, tcp().src("10.0.0.1").flags(2), "pass", "within_limits"},
      {0ms, tcp().src("10.0.0.1").flags(2), "drop", "over_limit", "r", 2s},
      {0ms, tcp().src("10.0.0.1"), "pass", "within_limits"},
      {0ms, tcp().src("10.0.0.2"), "pass", "within_limits"},
      {0ms, tcp().src("10.0.0.2"), "drop", "over_limit", "r", 1h}}},
};

class TierCase : public testing::TestWithParam<Case> {};

TEST_P(TierCase, Holds) {
    test::expect_case(GetParam());
}

INSTANTIATE_TEST_SUITE_P(All, TierCase, testing::ValuesIn(kCases));

TEST(Tiers, ARuleIsSkippedWhenNoneOfThemApplies) {
    Box box{RULE "    tiers:\n"
                 "      - {key: [l4.dport], limits: " BUCKET("1/d", "9") "}\n"
                 "      - {key: [ip.src], limits: " BUCKET("1/d", "9") "}\n"};
    (void)box.judge(from("10.0.0.1").bytes(), kStart);
    (void)box.judge(from("10.0.0.1").frag(64, false).bytes(), kStart);
    (void)box.judge(arp().bytes(), kStart);
    EXPECT_EQ(box.counters(0).admitted.read(), 2U);
    EXPECT_EQ(box.counters(0).skipped.read(), 1U);
}

// The longest wait tells which key refused, the first of equals.
TEST(Tiers, TheDecisionNamesTheKeyThatRefused) {
    Box box{RULE "    tiers:\n"
                 "      - {key: [ip.dst], limits: " BUCKET("1/d", "4") "}\n"
                 "      - {key: [ip.src], limits: " BUCKET("1/d", "1") "}\n"
                 "      - {key: [ip.proto], limits: " BUCKET("1/h", "4") "}\n"};
    const auto key_for = [&](std::string_view source) {
        return +box.judge(from(source).bytes(), kStart).key;
    };
    EXPECT_EQ(key_for("10.0.0.1"), 0);  // passes
    EXPECT_EQ(key_for("10.0.0.1"), 1);
    EXPECT_EQ(key_for("10.0.0.2"), 0);
    EXPECT_EQ(key_for("10.0.0.3"), 0);
    EXPECT_EQ(key_for("10.0.0.4"), 0);
    const Decision last = box.judge(from("10.0.0.1").bytes(), kStart);
    EXPECT_EQ(last.verdict, Verdict::Drop);
    EXPECT_EQ(+last.key, 0);  // the first and the second must wait a day, the third an hour
    Box shorter_first{RULE "    tiers:\n"
                           "      - {key: [ip.proto], limits: " BUCKET("1/h", "1") "}\n"
                           "      - {key: [ip.dst], limits: " BUCKET("1/d", "1") "}\n"};
    (void)shorter_first.judge(from("10.0.0.1").bytes(), kStart);
    EXPECT_EQ(+shorter_first.judge(from("10.0.0.1").bytes(), kStart).key, 1);
}

// A full table coarsens by the key of the tier: the networks of the sources, as many as the
// parents' one line has places for, have four each, not all of them 64 together.
TEST(Tiers, AFullTableCoarsensTheKeyOfTheTier) {
    constexpr std::size_t kOneLine = 1;  // four places
    Box box{RULE "    on_full: {coarsen: {factor: 4}}\n    tiers:\n"
                 "      - {key: [l4.dport], limits: " BUCKET("1/h", "1000") "}\n"
                 "      - {key: [ip.src], limits: " BUCKET("1/d", "1") "}\n",
            {},
            kOneLine};
    for (const std::string_view source : {"192.0.2.1", "192.0.2.2", "192.0.2.3"}) {
        ASSERT_EQ(box.judge(from(source).bytes(), kStart).verdict, Verdict::Pass);
    }
    for (int host = 1; host <= 8; ++host) {
        const std::string source = "10.0.0." + std::to_string(host);
        const Verdict wanted = host <= 4 ? Verdict::Pass : Verdict::Drop;
        EXPECT_EQ(box.judge(from(source).bytes(), kStart).verdict, wanted) << source;
    }
    EXPECT_GT(box.counted(TableEvent::Coarsened1), 0U);
    EXPECT_EQ(box.counted(TableEvent::CoarsenedToRule), 0U);
    EXPECT_EQ(box.judge(from("10.0.1.1").bytes(), kStart).verdict, Verdict::Pass);
}

// Another file with the same tiers goes on with their buckets.
TEST(Tiers, KeepTheirBucketsOverAReload) {
    const std::string first = RULE
        "    tiers:\n"
        "      - {key: [ip.src], limits: " BUCKET("1/d", "2") "}\n";
    Box box{first + "      - {key: [ip.dst], limits: " BUCKET("1/d", "9") "}\n"};
    (void)box.judge(from("10.0.0.1").bytes(), kStart);
    ASSERT_TRUE(box.reload(first + "      - {key: [ip.proto], limits: " BUCKET("1/d", "9") "}\n"));
    EXPECT_EQ(box.judge(from("10.0.0.1").bytes(), kStart).verdict, Verdict::Pass);
    EXPECT_EQ(box.judge(from("10.0.0.1").bytes(), kStart).verdict, Verdict::Drop);
}

}  // namespace
}  // namespace sluice::tier_cases_test

#undef RULE
#undef BUCKET
