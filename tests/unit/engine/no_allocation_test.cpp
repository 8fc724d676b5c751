#include "lib/engine/stage/steer_burst.hpp"
#include "lib/l7/stream/unit_parser.hpp"
#include "lib/watch/heatmap/heat_collector.hpp"
#include "tests/counted_allocations.hpp"
#include "tests/packets/box.hpp"
#include "tests/packets/dns_bytes.hpp"
#include "tests/packets/frame.hpp"
#include "tests/packets/unit_lines.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>

namespace sluice::no_allocation_test {
namespace {

using namespace std::chrono_literals;

TEST(RunBurst, AllocatesNothing) {
    PacketPolicy policy;
    policy.tunnels = {true, true, true};
    Problems problems{"r"};
    std::optional<CompiledRules> compiled = compile_rules({"r", R"yaml(version: 1
rules:
  - {id: words, mode: monitor, on_match: drop,
     when: 'payload contains "abc" or payload matches "x[0-9]+" or starts_with(payload, "\x00")'}
  - {id: block, mode: monitor, when: "ip.src in {10.0.0.0/8}", on_match: drop}
  - id: each
    mode: enforce
    heatmap: on
    missing_key: share
    key: ["prefix(ip.src, 24|64)", l4.sport, eth.src]
    limits:
      - {algorithm: token_bucket, rate: 10/s, burst: 2}
      - {algorithm: token_bucket, per: byte, rate: 1MB/s, burst: 64KB}
  - id: tiers
    tiers:
      - {key: [ip.src, l4.sport], limits: [{algorithm: sliding_log, count: 2, window: 1s}]}
      - {key: ["prefix(ip.src, 24|64)"], limits: [{algorithm: token_bucket, rate: 9/s, burst: 9}]}
  - id: overridden
    heatmap: on
    key: [ip.src]
    limits: [{algorithm: token_bucket, rate: 10/s, burst: 2}]
    overrides:
      inline:
        - {key: [10.0.0.1], limits: {"1": {rate: 7/s}}, until: 1970-01-01}
        - {key: ["2001:db8::1"], exempt: true}
    ban: {after: 3, within: 1s, for: 10ms}
  - id: units
    heatmap: on
    when: 'starts_with(payload, "/")'
    key: [payload]
    limits: [{algorithm: token_bucket, rate: 10/s, burst: 2}]
)yaml"},
                                                          Purpose::Enforce, {}, problems);
    ASSERT_TRUE(compiled.has_value());
    compiled->set.rules.back().limits.front().per = Per::Request;
    constexpr std::size_t kWorkers = 4;
    const Result<LoadedRules> loaded =
        LoadedRules::make(std::move(compiled->set), {.secret = {1, 2}, .sharers = {kWorkers, 1ms}});
    ASSERT_TRUE(loaded);
    const LoadedSet& set = loaded->set();
    WorkerCounters counters;
    KeySampler sampler{1};
    HeatSampler heat;
    CoreState core{.policy = policy,
                   .hash = KeyHasher{{1, 2}},
                   .buckets = BucketStore{64, 64},
                   .counters = counters,
                   .sampler = &sampler,
                   .heat = &heat,
                   .texts = loaded->texts(0)};
    HeatCollector collector{{&heat}};
    collector.adopt(set, 1);
    collector.tick({}, [](std::uint64_t) { return std::string{}; });
    adopt_heat(set, core);
    ASSERT_NE(core.watching, nullptr);
    std::vector<test::Octets> frames;
    for (std::uint16_t i = 0; i < kMaxBurst; ++i) {
        frames.push_back(i % 8 == 0   ? test::lines("R /A\nr /b\nQ c\nR /a").bytes()
                         : i % 4 == 0 ? test::arp().bytes()
                         : i % 4 == 1 ? test::udp().src("10.0.0.1").sport(i).payload(40).bytes()
                         : i % 4 == 2 ? test::udp().src("2001:db8::1").frag(0, true).bytes()
                                      : test::Frame{4}.carries(test::tcp().packet()).bytes());
    }
    Burst burst;
    test::LineParser parser;
    burst.find_units_by(parser.finder());
    const Result<ReadKey> key = read_key_text(set.rules[4].keys[0], "10.0.0.1");
    ASSERT_TRUE(key);
    KeyQuestion question{
        .action = KeyAction::Grant, .load = set.load, .rule = 4, .bytes = key->bytes};
    question.units = Units{1};
    Units granted;
    std::size_t owned = 0;
    const std::size_t before = test::allocations();
    for (int round = 0; round < 100; ++round) {
        burst.clear();
        for (const test::Octets& frame : frames) {
            (void)burst.add({frame, static_cast<std::uint32_t>(frame.size())}, Direction::In, 7);
        }
        run_burst(burst, set, core, {Instant{1h} + round * 1ms, {}});
        const KeyAnswer answer = answer_key(question, set, core, {Instant{1h} + round * 1ms, {}});
        granted = std::max(granted, answer.buckets[0].remaining);
        BurstOwners owners;
        match_burst(burst, set, core, Instant{});
        owned += find_owners(burst, set, core, kWorkers, owners) ? 1 : 0;
        split_burst(burst, {.gone = 0x0F0F, .unowned = may_go_on(burst, 1, set) ? 2U : 0U}, set);
    }
    EXPECT_EQ(owned, 100U);
    EXPECT_EQ(std::popcount(burst.live()), static_cast<int>(kMaxBurst - 8));
    EXPECT_EQ(test::allocations() - before, 0U);
    EXPECT_GT(counters.rules[0].exceeded.read(), 0U);
    std::size_t sampled = 0;
    sampler.ring().drain([&](const KeySample&) { ++sampled; });
    EXPECT_GT(sampled, 0U);
    std::array<std::size_t, 4> watched{};  // keys of the limits with maps
    core.watching->for_each([&](std::size_t place, const HeatRecord&) { ++watched.at(place); });
    EXPECT_TRUE(
        std::all_of(watched.begin(), watched.end(), [](std::size_t keys) { return keys > 0; }));
    EXPECT_GT(counters.rules[1].exceeded.read(), 0U);
    EXPECT_GT(granted, Units{0});
    EXPECT_GT(counters.bans[4].bans.read(), 1U);
    EXPECT_GT(counters.rules[5].admitted.read(), 0U);
    EXPECT_GT(counters.rules[5].exceeded.read(), 0U);
}

// Nor do questions of DNS, of which some packets have several.
TEST(RunBurst, AllocatesNothingForDns) {
    Problems problems{"r"};
    std::optional<CompiledRules> compiled = compile_rules({"r", R"yaml(version: 1
rules:
  - {id: deny, when: 'dns.qname matches "^x[0-9]+[.]" or dns.qtype ge 200', on_match: drop}
  - id: names
    mode: enforce
    when: proto.l7 eq "dns"
    key: [dns.qname, dns.qtype, ip.src]
    per: query
    limits: [{algorithm: token_bucket, rate: 10/s, burst: 2}]
)yaml"},
                                                          Purpose::Enforce, {}, problems);
    ASSERT_TRUE(compiled.has_value());
    const Result<LoadedRules> loaded =
        LoadedRules::make(std::move(compiled->set), {.secret = {1, 2}, .sharers = {1, 1ms}});
    ASSERT_TRUE(loaded);
    WorkerCounters counters;
    CoreState core{.policy = {},
                   .hash = KeyHasher{{1, 2}},
                   .buckets = BucketStore{64, 64},
                   .counters = counters,
                   .texts = loaded->texts(0)};
    const std::string two =
        test::DnsText{.questions = 2, .body = test::dns_question("a") + test::dns_question("b")}
            .wire();
    std::vector<test::Octets> frames;
    for (std::uint16_t i = 0; i < kMaxBurst; ++i) {
        const std::string name = "x" + std::to_string(i % 4) + ".example";
        const std::string message = i % 8 == 0   ? two
                                    : i % 4 == 1 ? test::dns_response(name)
                                                 : test::dns_query(name, i);
        frames.push_back(test::udp().dport(53).carries(test::message_octets(message)).bytes());
    }
    Burst burst;
    burst.find_units_by(lone_unit_finder());
    const std::size_t before = test::allocations();
    for (int round = 0; round < 100; ++round) {
        burst.clear();
        for (const test::Octets& frame : frames) {
            (void)burst.add({frame, static_cast<std::uint32_t>(frame.size())}, Direction::In, 7);
        }
        run_burst(burst, loaded->set(), core, {Instant{1h} + round * 1ms, {}});
    }
    EXPECT_EQ(test::allocations() - before, 0U);
    EXPECT_GT(counters.rules[0].exceeded.read(), 0U);
    EXPECT_GT(counters.rules[1].admitted.read(), 0U);
    EXPECT_GT(counters.rules[1].exceeded.read(), 0U);
}

}  // namespace
}  // namespace sluice::no_allocation_test
