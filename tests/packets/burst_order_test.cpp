#include "tests/packets/box.hpp"
#include "tests/packets/frame.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

// The packets of one burst are decided as each of them alone would have been, in the same order, by
// whatever way: the loop for token and leaky buckets, the rest of the fast path, or the general
// one.
namespace sluice::burst_order_test {
namespace {

using namespace std::chrono_literals;
using test::Box;
using test::Octets;
using test::tcp;
using test::udp;

// Units of whole ns and of parts of one, states with a line of their own, and rules that are for
// some packets of a burst only.
constexpr std::string_view kMixed = R"(version: 1
rules:
  - {id: whole, mode: enforce, key: [ip.src], limits: [{algorithm: token_bucket, rate: 1000/s, burst: 9}]}
  - {id: parts, mode: enforce, key: [ip.dst], limits: [{algorithm: leaky_bucket, rate: 3000/s, queue: 12}]}
  - {id: watched, mode: monitor, key: [l4.dport], limits: [{algorithm: token_bucket, rate: 700/s, burst: 4}]}
  - id: tiers
    mode: enforce
    when: ip.proto eq 6
    tiers:
      - {key: [ip.src], limits: [{algorithm: token_bucket, rate: 500/s, burst: 5}]}
      - {key: ['prefix(ip.src, 24|64)'], limits: [{algorithm: token_bucket, rate: 3000/s, burst: 20}]}
  - {id: tagged, mode: enforce, key: [ip.src], per: byte, on_exceed: {action: tag, dscp: cs1},
     limits: [{algorithm: token_bucket, rate: 1MB/s, burst: 600B}]}
  - {id: window, mode: enforce, when: l4.dport eq 53, key: [ip.src],
     limits: [{algorithm: sliding_window, count: 3, window: 10ms}]}
  - {id: spends, mode: enforce, when: l4.dport eq 100, key: [ip.dst], rejected_spend: true,
     limits: [{algorithm: token_bucket, rate: 900/s, burst: 6}]}
)";

// More limits than the fast path takes, one of the last of which is the tightest.
std::string many_rules() {
    std::string text = "version: 1\nrules:\n";
    for (int rule = 0; rule < 70; ++rule) {
        text += "  - {id: r" + std::to_string(rule) +
                ", mode: enforce, key: [ip.src], limits: [{algorithm: token_bucket, rate: 1000/s, "
                "burst: " +
                std::to_string(rule == 67 ? 2 : 10) + "}]}\n";
    }
    return text;
}

Octets some_frame(std::mt19937_64& random) {
    const std::string last = std::to_string(random() % 6);
    const auto port = static_cast<std::uint16_t>(random() % 3 == 0 ? 53 : 99 + random() % 3);
    switch (random() % 8) {
        case 0:
            return test::arp().bytes();
        case 1:
        case 2:
            return tcp().src("10.0.0." + last).dst("192.0.2." + last).dport(port).bytes();
        case 3:
            return udp().src("2001:db8::" + last).dst("2001:db8::1").dport(port).bytes();
        default:
            return udp().src("10.0.0." + last).dst("192.0.2.1").dport(port).bytes();
    }
}

// Keys with numbers of their own, of whole ns a unit and of parts of one, exempt ones, and others;
// beside a rule whose keys have none.
std::string overridden(std::string_view sources, std::string_view destinations) {
    return R"(version: 1
rules:
  - {id: whole, mode: enforce, key: [ip.src], limits: [{algorithm: token_bucket, rate: 1000/s, burst: 9}],
     overrides: {inline: [)" +
           std::string{sources} + R"(]}}
  - {id: parts, mode: enforce, when: l4.dport eq 53, key: [ip.dst], limits: [{algorithm: token_bucket, rate: 3000/s, burst: 12}],
     overrides: {inline: [)" +
           std::string{destinations} + R"(]}}
  - {id: same-for-all, mode: enforce, key: [l4.dport], limits: [{algorithm: token_bucket, rate: 700/s, burst: 9}]}
  - {id: parts-for-all, mode: enforce, when: l4.dport eq 100, key: [ip.dst], limits: [{algorithm: token_bucket, rate: 7000/s, burst: 20}]}
)";
}

struct RulesAndLater {
    std::string rules;
    std::string later;  // from the middle of the course on
};

class BurstOrder : public testing::TestWithParam<RulesAndLater> {
protected:
    // As a box decides while nobody is shown how long a packet would have to wait.
    static PacketPolicy untold() {
        PacketPolicy policy;
        policy.tell_wait = false;
        return policy;
    }

    void expect_same(const Decision& in_burst, const Decision& other) {
        EXPECT_EQ(in_burst.verdict, other.verdict) << where_;
        EXPECT_EQ(in_burst.reason, other.reason) << where_;
        EXPECT_EQ(in_burst.rule, other.rule) << where_;
        EXPECT_EQ(in_burst.key, other.key) << where_;
        EXPECT_EQ(in_burst.action, other.action) << where_;
    }
    void judge(const std::vector<Octets>& frames, Instant now) {
        const std::vector<Decision> decisions = burst_.judge_burst(frames, now);
        test::fill(same_, frames);
        general_.run_general(same_, now);
        for (std::size_t i = 0; i < frames.size(); ++i) {
            expect_same(decisions[i], alone_.judge(frames[i], now));
            expect_same(decisions[i], same_.decision(i));
            refused_ += decisions[i].reason == Reason::OverLimit ? 1 : 0;
        }
    }
    void expect_same_counts() {
        for (std::size_t rule = 0; rule < burst_.set().rules.size(); ++rule) {
            for (const Box* other : {&alone_, &general_}) {
                const RuleCounters& one = burst_.counters(rule);
                const RuleCounters& two = other->counters(rule);
                EXPECT_EQ(one.admitted.read(), two.admitted.read()) << rule;
                EXPECT_EQ(one.admitted_bytes.read(), two.admitted_bytes.read()) << rule;
                EXPECT_EQ(one.exceeded.read(), two.exceeded.read()) << rule;
                EXPECT_EQ(one.exceeded_bytes.read(), two.exceeded_bytes.read()) << rule;
                EXPECT_EQ(one.skipped.read(), two.skipped.read()) << rule;
                EXPECT_EQ(one.exempted.read(), two.exempted.read()) << rule;
            }
        }
    }

    Box burst_{GetParam().rules, untold()};
    Box alone_{GetParam().rules, untold()};
    Box general_{GetParam().rules, untold()};
    Burst same_;
    std::size_t refused_ = 0;
    std::string where_;
};

TEST_P(BurstOrder, IsThatOfItsPackets) {
    constexpr unsigned kSeed = 15;
    constexpr int kBursts = 400;
    std::mt19937_64 random{kSeed};
    Instant now{1h};
    std::size_t packets = 0;
    for (int burst = 0; burst < kBursts && !HasFailure(); ++burst) {
        for (Box* box : {&burst_, &alone_, &general_}) {
            ASSERT_TRUE(burst != kBursts / 2 || box->reload(GetParam().later));
        }
        now += Nanoseconds{static_cast<std::int64_t>(random() % 20'000'000)};
        std::vector<Octets> frames(1 + random() % kMaxBurst);
        for (Octets& frame : frames) {
            frame = some_frame(random);
        }
        where_ = "seed " + std::to_string(kSeed) + ", burst " + std::to_string(burst);
        judge(frames, now);
        packets += frames.size();
    }
    expect_same_counts();
    EXPECT_GT(refused_, packets / 20);
    EXPECT_LT(refused_, packets);
}

INSTANTIATE_TEST_SUITE_P(
    All, BurstOrder,
    testing::Values(
        RulesAndLater{std::string{kMixed}, std::string{kMixed}},
        RulesAndLater{many_rules(), many_rules()},
        RulesAndLater{overridden(R"({key: [10.0.0.1], limits: {"1": {burst: 3}}},
                                      {key: ["2001:db8::2"], exempt: true},
                                      {key: [10.0.0.3], exempt: true})",
                                 R"({key: [192.0.2.1], limits: {"1": {rate: 7000/s, burst: 40}}})"),
                      overridden(R"({key: [10.0.0.2], limits: {"1": {rate: 300/s}}},
                                      {key: [10.0.0.1], exempt: true})",
                                 R"({key: ["2001:db8::1"], exempt: true})")}));

}  // namespace
}  // namespace sluice::burst_order_test
