#include "tests/chance.hpp"
#include "tests/packets/dns_bytes.hpp"
#include "tests/packets/frame.hpp"
#include "tests/packets/workers.hpp"
#include "tests/rounds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

// Limits whose packets are handed to the owners of their keys: what several workers say of each
// packet is what one worker would.
namespace sluice::owner_test {
namespace {

using namespace std::chrono_literals;
using test::Chance;
using test::Workers;

constexpr Instant kStart{1h};
constexpr std::size_t kWorkers = 4;

std::string rules(const std::string& list) {
    return "version: 1\ndefaults: {mode: enforce}\nrules:\n" + list;
}

struct Sent {
    std::vector<std::byte> bytes;
    std::size_t source = 0;
};

// Of few addresses and ports, so that keys meet again.
Sent random_packet(Chance& chance) {
    const std::size_t source = chance.below(6);
    constexpr std::array<std::uint16_t, 4> kPorts{53, 80, 443, 9000};
    test::Frame frame = chance.one_in(2) ? test::udp() : test::tcp();
    const std::string network = source < 3 ? "10.0.0." : "10.0.1.";
    frame.src(network + std::to_string(source)).dst("192.0.2." + std::to_string(chance.below(5)));
    frame.sport(static_cast<std::uint16_t>(1000 + chance.below(3))).dport(chance.of(kPorts));
    if (chance.one_in(3)) {
        frame.flags(0x02);
    }
    if (chance.one_in(8)) {
        frame.frag(chance.one_in(2) ? 0 : 100, true);
    }
    frame.payload(chance.below(60));
    return {frame.bytes(), source};
}

// By what the port would hash: any function of the source.
std::size_t receiver_of(const Sent& sent) {
    return (sent.source * 7 + 3) % kWorkers;
}

std::string told(const Decision& decision) {
    return std::to_string(static_cast<int>(decision.verdict)) + "/" +
           std::to_string(static_cast<int>(decision.reason)) + " by " +
           std::to_string(decision.rule) + "." + std::to_string(decision.key) + " wait " +
           std::to_string(decision.wait.count());
}

enum class Arrival : std::uint8_t { BySource, Anywhere };

// Packets one by one, at any worker or at that of their source.
struct Case {
    std::string text;
    unsigned seed;
    Arrival arrival;
    int packets;
};
void expect_as_one_worker(const Case& asked, Workers& workers) {
    const auto& [text, seed, arrival, packets] = asked;
    Workers oracle{text, 1};
    Chance chance{seed};
    Instant now = kStart;
    for (int i = 0; i < packets; ++i, now += Nanoseconds{chance.below(40'000'000)}) {
        const Sent sent = random_packet(chance);
        const std::size_t at =
            arrival == Arrival::Anywhere ? chance.below(kWorkers) : receiver_of(sent);
        ASSERT_EQ(told(workers.judge(at, sent.bytes, now)), told(oracle.judge(0, sent.bytes, now)))
            << "packet " << i << " of seed " << seed << "\n"
            << text;
    }
}

constexpr std::string_view kLog = "limits: [{algorithm: sliding_log, count: 4, window: 300ms}]";
constexpr std::string_view kFew = "limits: [{algorithm: token_bucket, rate: 9/s, burst: 3}]";

TEST(Owner, WhatCannotBeMergedIsExactWhereverPacketsCome) {
    const std::string log{kLog};
    const std::string few{kFew};
    const std::string list[] = {
        "  - {id: log, key: [ip.dst], " + log + "}\n",
        "  - {id: colour, key: [ip.dst], limits: [{algorithm: srtcm, per: byte, cir: 2KB/s, cbs: "
        "300B, ebs: 200B}]}\n",
        "  - {id: connections, key: [ip.dst], per: connection, " + few + "}\n",
        "  - {id: own, key: [ip.dst], overrides: {inline: [{key: 192.0.2.1, limits: {\"1\": {rate: "
        "40/s, burst: 9}}}, {key: 192.0.2.2, exempt: true}]}, limits: [{algorithm: token_bucket, "
        "rate: 9/s, burst: "
        "30}]}\n",
        "  - {id: first, key: [l4.dport], limits: [{algorithm: fixed_window, count: 5, window: "
        "400ms, phase: first}]}\n",
        "  - {id: fine, key: [ip.dst, l4.dport], " + log + "}\n  - {id: coarse, key: [ip.dst], " +
            few + "}\n",
        "  - {id: all, key: [], " + log + "}\n",
        "  - {id: share, key: [l4.dport], missing_key: share, " + log + "}\n",
        "  - id: tiers\n    tiers: [{key: [\"prefix(ip.dst, 31|127)\"], " + log +
            "}, {key: [ip.dst], " + few + "}]\n",
        "  - {id: watch, mode: monitor, key: [ip.src], " + log +
            "}\n  - {id: hold, key: [ip.dst], " + few + "}\n",
        "  - {id: ban, key: [ip.dst], ban: {after: 3, within: 1s, for: 2s}, " + log + "}\n",
    };
    unsigned seed = 1;
    for (const std::string& one : list) {
        Workers workers{rules(one), kWorkers};
        expect_as_one_worker({rules(one), seed++, Arrival::Anywhere, 1'500}, workers);
        EXPECT_GT(workers.handed(), 700U) << one;
    }
}

TEST(Owner, ABurstIsJudgedInItsOrder) {
    const std::string text =
        rules("  - {id: log, when: ip.proto eq 17, key: [ip.dst], " + std::string{kLog} +
              "}\n  - {id: other, key: [ip.dst, l4.sport], " + std::string{kFew} + "}\n");
    Workers workers{text, kWorkers};
    Workers oracle{text, 1};
    Chance chance{5};
    Instant now = kStart;
    for (int round = 0; round < 300; ++round, now += 20ms) {
        std::vector<std::vector<std::byte>> burst;
        for (std::size_t i = 1 + chance.below(kMaxBurst); i > 0; --i) {
            burst.push_back(random_packet(chance).bytes);
        }
        const std::vector<Decision> here = workers.judge(chance.below(kWorkers), burst, now);
        const std::vector<Decision> there = oracle.judge(0, burst, now);
        for (std::size_t i = 0; i < burst.size(); ++i) {
            ASSERT_EQ(told(here[i]), told(there[i])) << "round " << round << ", packet " << i;
        }
    }
    EXPECT_GT(workers.handed(), 1'000U);
}

std::string random_rule(Chance& chance, std::size_t index) {
    constexpr auto kConditions = std::to_array<std::string_view>(
        {"ip.proto eq 17", "ip.proto eq 6", "l4.dport eq 53", "l4.dport in {80 443}",
         "ip.dst eq 192.0.2.1", "ip.dst in {192.0.2.2 192.0.2.3}", "not (ip.dst eq 192.0.2.1)",
         "tcp.flags.syn", "ip.frag eq \"none\"", "ip.src in {10.0.0.0/24}", "ip.src eq 10.0.1.4",
         "l4.dport eq 53 or ip.dst eq 192.0.2.4", "ip.proto eq 6 and ip.dst ne 192.0.2.0",
         "payload.len gt 0", "payload.len gt 30 and ip.proto eq 6",
         "'payload contains \"\\x00\\x00\"'", "not (payload.len gt 0)"});
    constexpr auto kKeys = std::to_array<std::string_view>(
        {"[ip.src]", "[ip.dst]", "[\"prefix(ip.src, 24|64)\"]", "[ip.src, l4.dport]", "[l4.dport]",
         "[]", "[ip.dst, ip.proto]", "[\"prefix(ip.dst, 31|127)\"]", "[ip.src, ip.dst]",
         "[l4.sport, ip.dst]", "[ip.src]"});
    constexpr auto kLimits = std::to_array<std::string_view>(
        {kLog, kFew, "limits: [{algorithm: srtcm, cir: 10/s, cbs: 2, ebs: 2}]",
         "limits: [{algorithm: sliding_log, count: 3, window: 200ms}, {algorithm: token_bucket, "
         "rate: 20/s, burst: 4}]"});
    std::string text = "  - id: r" + std::to_string(index) + "\n";
    if (!chance.one_in(4)) {
        text += "    when: " + std::string{chance.of(kConditions)} + "\n";
    }
    if (chance.one_in(8)) {
        return text + (chance.one_in(2) ? "    on_match: drop\n" : "    on_match: allow\n");
    }
    text += chance.one_in(4) ? "    mode: monitor\n" : "";
    text += chance.one_in(8) ? "    missing_key: share\n" : "";
    text += chance.one_in(6) ? "    rejected_spend: true\n" : "";
    if (chance.one_in(6)) {
        return text + "    tiers: [{key: " + std::string{chance.of(kKeys)} + ", " +
               std::string{chance.of(kLimits)} + "}, {key: " + std::string{chance.of(kKeys)} +
               ", " + std::string{chance.of(kLimits)} + "}]\n";
    }
    return text + "    key: " + std::string{chance.of(kKeys)} + "\n    " +
           std::string{chance.of(kLimits)} + "\n";
}

// Any rules none of whose limits can be merged: wherever one packet goes, all of its limits are.
TEST(Owner, AnyRulesTogetherAreExact) {
    Chance chance{11};
    const int rounds = std::max(test::rounds(600), 100);  // fewer are not of every kind
    std::map<std::string, int> scopes;
    int groups = 0;
    int told = 0;
    for (int round = 0; round < rounds; ++round) {
        std::string list;
        for (std::size_t i = 0, count = 1 + chance.below(4); i < count; ++i) {
            list += random_rule(chance, i);
        }
        const std::string budget =
            chance.one_in(4) ? "bypass: [{when: ip.dst eq 192.0.2.3, key: [ip.src], limit: "
                               "{algorithm: token_bucket, rate: 3/s, burst: 2}}]\n"
                             : "";
        const std::string text = rules(list) + budget;
        Workers workers{text, kWorkers};
        for (const RuleSummary& rule : workers.summaries()) {
            for (const LimitSummary& limit : rule.limits) {
                ++scopes[limit.scope];
            }
        }
        for (const OwnerGroup& group : workers.set().owner_groups) {
            ++groups;
            told += group.parts.empty() ? 0 : 1;
        }
        expect_as_one_worker({text, static_cast<unsigned>(round), Arrival::BySource, 400}, workers);
        if (testing::Test::HasFatalFailure()) {
            return;
        }
    }
    EXPECT_EQ(scopes["merged"], 0);
    EXPECT_GT(scopes["local"], rounds / 6);
    EXPECT_GT(scopes["owner"], rounds * 5 / 6);
    EXPECT_GT(groups, told);
    EXPECT_GT(told, rounds / 12);
}

// A rule over data alone: segments without any are no business of its owner, and meet the other
// rules where data meets them too.
TEST(Owner, WhatIsNotOfTheDataIsJudgedWithItsConnection) {
    const std::string log{kLog};
    const std::string few{kFew};
    const std::string list[] = {
        "  - {id: data, when: payload.len gt 0, key: [ip.dst], " + log + "}\n",
        "  - {id: data, when: payload.len gt 0, key: [ip.dst], " + log +
            "}\n  - {id: all, key: [ip.src], " + few + "}\n",
        "  - {id: data, when: 'payload contains \"\\x00\\x00\"', key: [ip.dst], " + log +
            "}\n  - {id: acks, when: not (payload.len gt 0), key: [ip.dst], " + few + "}\n",
        "  - {id: data, when: payload.len gt 0, key: [l4.dport], " + log +
            "}\n  - {id: open, key: [ip.dst], limits: [{algorithm: concurrency, count: 3, idle: "
            "1s}]}\n",
    };
    unsigned seed = 100;
    for (const std::string& one : list) {
        Workers workers{rules(one), kWorkers};
        expect_as_one_worker({rules(one), seed++, Arrival::BySource, 1'500}, workers);
        EXPECT_GT(workers.handed(), 300U) << one;
    }
}

// What decides before any limit is asked is done where it came.
TEST(Owner, ABlockListIsNotHandedOver) {
    Workers workers{rules("  - {id: log, key: [ip.dst], " + std::string{kLog} +
                          "}\n  - {id: block, when: ip.src eq 10.0.0.9, on_match: drop}\n"),
                    kWorkers};
    const auto blocked = test::udp().src("10.0.0.9").dst("192.0.2.1").bytes();
    for (std::size_t i = 0; i < 20; ++i) {
        EXPECT_EQ(workers.judge(i % kWorkers, blocked, kStart).reason, Reason::DenyRule);
    }
    EXPECT_EQ(workers.handed(), 0U);
    const auto other = test::udp().src("10.0.0.8").dst("192.0.2.1").bytes();
    for (std::size_t i = 0; i < 8; ++i) {
        EXPECT_EQ(workers.judge(i % kWorkers, other, kStart).verdict,
                  i < 4 ? Verdict::Pass : Verdict::Drop);
    }
    EXPECT_EQ(workers.handed(), 6U) << "a quarter has come to its owner at once";
}

// A packet of several units is handed to nobody: each unit may be of another owner, and a rule over
// units may say of the first what it does not say of the next. Who owns what no such rule may meet
// is told by headers, which all units have.
TEST(Owner, PacketsThatRulesOverUnitsMayMeetStay) {
    const std::string log{kLog};
    Workers workers{
        rules("  - {id: allow, when: 'dns.qname eq \"a\" and l4.dport eq 53', "
              "on_match: allow}\n"
              "  - {id: asked, when: l4.dport eq 53, key: [ip.dst], " +
              log + "}\n  - {id: handed, when: l4.dport eq 5300, key: [ip.dst], " + log + "}\n"),
        kWorkers};
    EXPECT_EQ(workers.set().rules[1].limits.front().scope, LimitScope::Asked);
    EXPECT_EQ(workers.set().rules[2].limits.front().scope, LimitScope::Owner);
    const std::string two =
        test::DnsText{.questions = 2, .body = test::dns_question("a") + test::dns_question("b")}
            .wire();
    const auto to = [&](std::uint16_t port) {
        return test::udp()
            .src("10.0.0.1")
            .dst("192.0.2.1")
            .dport(port)
            .carries(test::message_octets(two))
            .bytes();
    };
    for (std::size_t i = 0; i < 20; ++i) {
        (void)workers.judge(i % kWorkers, to(53), kStart);
    }
    EXPECT_EQ(workers.handed(), 0U);
    EXPECT_GT(workers.admitted(1), 0U) << "by the second question";
    EXPECT_EQ(workers.pass(20, to(5300), kStart), 4U);
    EXPECT_EQ(workers.handed(), 15U);
}

TEST(Owner, ARuleThatOnlyWatchesCountsAPacketOnce) {
    Workers workers{
        rules("  - {id: seen, mode: monitor, when: ip.src eq 10.0.0.9, on_match: allow}\n"
              "  - {id: log, key: [ip.dst], " +
              std::string{kLog} + "}\n"),
        kWorkers};
    const auto frame = test::udp().src("10.0.0.9").dst("192.0.2.1").bytes();
    for (std::size_t i = 0; i < 20; ++i) {
        (void)workers.judge(i % kWorkers, frame, kStart);
    }
    EXPECT_EQ(workers.handed(), 15U);
    EXPECT_EQ(workers.admitted(0), 20U);
}

// Keys are spread over the workers.
TEST(Owner, EachWorkerOwnsItsPartOfTheKeys) {
    Workers workers{rules("  - {id: log, key: [ip.dst], " + std::string{kLog} + "}\n"), kWorkers};
    constexpr std::uint64_t kKeys = 1'000;
    for (std::uint64_t i = 0; i < kKeys; ++i) {
        const auto frame =
            test::udp()
                .src("10.0.0.1")
                .dst("198.51." + std::to_string(i / 250) + "." + std::to_string(i % 250))
                .bytes();
        (void)workers.judge(0, frame, kStart);
    }
    EXPECT_NEAR(static_cast<double>(workers.handed()), kKeys * 0.75, 60);
}

// What an owner takes no more of goes on only where nobody would be refused for want of counting.
TEST(Owner, WhatFindsNoRoomFollowsOnFull) {
    const auto goes_on = [](const std::string& list) {
        Workers workers{rules(list), kWorkers};
        const auto frame = test::udp().src("10.0.0.1").dst("192.0.2.1").bytes();
        WorkerCounters counters;
        CoreState core{.policy = {},
                       .hash = KeyHasher{{1, 2}},
                       .buckets = BucketStore{64, 64},
                       .counters = counters};
        Burst burst;
        (void)burst.add({frame, static_cast<std::uint32_t>(frame.size())}, Direction::In, 0);
        const LoadedSet& set = workers.set();
        parse_burst(burst, core);
        match_burst(burst, set, core, Instant{});
        EXPECT_GT(burst.scratch().rule_count, 0U);
        return may_go_on(burst, 0, set);
    };
    const std::string log{kLog};
    EXPECT_FALSE(goes_on("  - {id: a, key: [ip.dst], " + log + "}\n"));
    EXPECT_FALSE(goes_on("  - {id: a, key: [ip.dst], on_full: closed, " + log + "}\n"));
    EXPECT_TRUE(goes_on("  - {id: a, key: [ip.dst], on_full: open, " + log + "}\n"));
    EXPECT_TRUE(goes_on("  - {id: a, mode: monitor, key: [ip.dst], " + log + "}\n"));
    EXPECT_FALSE(goes_on("  - {id: a, mode: monitor, key: [ip.dst], " + log +
                         "}\n  - {id: b, key: [ip.dst], " + log + "}\n"));
    EXPECT_TRUE(goes_on("  - {id: a, mode: monitor, key: [ip.dst], " + log +
                        "}\n  - {id: b, key: [ip.src], limits: [{algorithm: token_bucket, rate: "
                        "1/s, burst: 100}]}\n"));
}

}  // namespace
}  // namespace sluice::owner_test
