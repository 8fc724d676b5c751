#include "tests/chance.hpp"
#include "tests/packets/box.hpp"
#include "tests/packets/frame.hpp"
#include "tests/packets/workers.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

// Bans that hold for all that a source sends, looked up for a burst at once: packets are decided
// as each of them alone would have been, and those that are dropped go to no other worker.
namespace sluice::banned_rows_test {
namespace {

using namespace std::chrono_literals;
using test::Box;
using test::Chance;
using test::Frame;
using test::icmpv6;
using test::Octets;
using test::tcp;
using test::udp;
using test::Workers;

constexpr Instant kStart{1h};
constexpr std::size_t kWorkers = 4;

std::string ban_rule(const std::string& id, const std::string& port, const std::string& key,
                     const std::string& more = "") {
    return "  - {id: " + id + ", mode: enforce, when: 'l4.dport eq " + port + "', key: ['" + key +
           "'], limits: [{algorithm: fixed_window, count: 1, window: 100ms}], ban: {after: 2, "
           "within: 1s, for: 200ms, applies_to: source, spoofable: yes}" +
           more + "}\n";
}
// Its packets belong to the worker that owns their destination.
const std::string kOwned =
    "  - {id: owned, mode: enforce, when: 'l4.dport eq 9', key: [ip.dst], limits: [{algorithm: "
    "sliding_log, count: 1000, window: 1s}]}\n";

void ban(Workers& workers, const std::string& source) {
    for (int i = 0; i < 3; ++i) {
        (void)workers.judge(0, udp().src(source).dport(53).bytes(), kStart);
    }
}
std::vector<Octets> flood(const std::string& source, std::uint16_t port) {
    std::vector<Octets> frames;
    for (std::size_t i = 0; i < kMaxBurst; ++i) {
        frames.push_back(udp().src(source).dst("192.0.2." + std::to_string(i)).dport(port).bytes());
    }
    return frames;
}

TEST(BannedRows, AFloodOfABannedSourceIsHandedToNobody) {
    Workers workers{"version: 1\nrules:\n" + ban_rule("r", "53", "ip.src") + kOwned, kWorkers};
    for (const Decision& one : workers.judge(1, flood("10.0.0.1", 9), kStart)) {
        EXPECT_EQ(one.reason, Reason::WithinLimits);
    }
    const std::uint64_t before = workers.handed();
    EXPECT_GT(before, 10U);
    ban(workers, "10.0.0.1");
    const std::uint64_t owned = workers.admitted(1);
    for (std::size_t at = 0; at < kWorkers; ++at) {
        for (const Decision& one : workers.judge(at, flood("10.0.0.1", 9), kStart)) {
            EXPECT_EQ(one.reason, Reason::BannedSource);
        }
    }
    EXPECT_EQ(workers.handed(), before);
    EXPECT_EQ(workers.admitted(1), owned);
    (void)workers.judge(1, flood("10.0.0.2", 9), kStart);
    EXPECT_GT(workers.handed(), before + 10) << "others are handed over as before";
    const std::uint64_t then = workers.handed();
    (void)workers.judge(1, flood("10.0.0.1", 9), kStart + 200ms);
    EXPECT_GT(workers.handed(), then + 10) << "and this one once its ban has ended";
}

// A budget stands before the ban, and its owner knows what is left of it.
TEST(BannedRows, ABudgetAtAnOwnerIsAskedAboutThem) {
    Workers workers{
        "version: 1\nbypass: [{when: 'l4.dport eq 179', key: [ip.dst], limit: {algorithm: "
        "sliding_log, count: 1, window: 1s}}]\nrules:\n" +
            ban_rule("r", "53", "ip.src") + kOwned,
        kWorkers};
    ban(workers, "10.0.0.1");
    for (const Reason reason : {Reason::Bypass, Reason::BannedSource}) {
        const std::uint64_t before = workers.handed();
        for (const Decision& one : workers.judge(1, flood("10.0.0.1", 179), kStart)) {
            EXPECT_EQ(one.reason, reason);
        }
        EXPECT_GT(workers.handed(), before + 10);
    }
    const std::uint64_t before = workers.handed();
    (void)workers.judge(1, flood("10.0.0.1", 9), kStart);
    EXPECT_EQ(workers.handed(), before);
}

// All that rules count.
std::vector<std::uint64_t> counts_of(const Box& box) {
    std::vector<std::uint64_t> counts;
    for (std::size_t rule = 0; rule < box.set().rules.size(); ++rule) {
        const RuleCounters& of = box.counters(rule);
        for (const auto* one : {&of.admitted, &of.admitted_bytes, &of.exceeded, &of.exceeded_bytes,
                                &of.skipped, &of.exempted}) {
            counts.push_back(one->read());
        }
        const BanCounters& bans = box.counters().bans[box.set().rules[rule].counters];
        for (const auto* one : {&bans.bans, &bans.banned, &bans.banned_sources}) {
            counts.push_back(one->read());
        }
    }
    return counts;
}

std::uint64_t banned_by(const Box& box) {
    std::uint64_t banned = 0;
    for (const LoadedRule& rule : box.set().rules) {
        banned += box.counters().bans[rule.counters].banned_sources.read();
    }
    return banned;
}

const std::string kBypass =
    "bypass: [{when: 'l4.dport eq 179', key: [ip.src], limit: {algorithm: fixed_window, count: 2, "
    "window: 100ms}}]\n";
const std::string kBans = ban_rule("each", "53", "ip.src") +
                          ban_rule("net", "54", "prefix(ip.src, 30|126)") +
                          ban_rule("spared", "55", "ip.src",
                                   ", overrides: {inline: [{key: [10.0.0.1], exempt: true}, {key: "
                                   "[10.0.0.2], limits: {\"1\": {count: 3}}}]}");
const std::string kOnSight =
    "  - {id: seen, mode: monitor, on_match: drop, when: 'l4.dport in {9 10 11}'}\n"
    "  - {id: shut, mode: enforce, on_match: drop, when: 'l4.dport eq 10'}\n"
    "  - {id: open, mode: enforce, on_match: allow, when: 'l4.dport in {10 11}'}\n";
const std::string kAll =
    "  - {id: all, mode: enforce, key: [ip.src], limits: [{algorithm: token_bucket, rate: 1000/s, "
    "burst: 20}]}\n";

Octets some_frame(Chance& chance) {
    constexpr std::array<std::uint16_t, 10> kPorts{53, 54, 55, 9, 10, 11, 9000, 179, 53, 54};
    if (chance.one_in(20)) {
        return test::arp().bytes();
    }
    if (chance.one_in(20)) {
        return icmpv6(135, 0).ttl(255).bytes();
    }
    const std::string last = std::to_string(chance.below(8));
    Frame frame = chance.one_in(3) ? tcp() : udp();
    if (chance.one_in(16)) {
        frame.ip_len(2000);
    }
    if (chance.one_in(5)) {
        frame.src("2001:db8::" + last).dst("2001:db8:1::1");
    } else {
        frame.src("10.0.0." + last);
    }
    return frame.dport(chance.of(kPorts)).payload(chance.below(40)).bytes();
}

void expect_same(const Decision& got, const Decision& wanted, const std::string& where) {
    EXPECT_EQ(row_of(got.reason).name, row_of(wanted.reason).name) << where;
    EXPECT_EQ(got.verdict, wanted.verdict) << where;
    EXPECT_EQ(got.rule, wanted.rule) << where;
    EXPECT_EQ(got.wait, wanted.wait) << where;
}

class AnyOrder : public testing::TestWithParam<std::string> {};

TEST_P(AnyOrder, ABurstIsDecidedAsItsPacketsAlone) {
    Box one_by_one{GetParam()};
    Box box{GetParam()};
    Chance chance{7};
    Instant now = kStart;
    for (int round = 0; round < 400; ++round, now += 7ms) {
        std::vector<Octets> frames;
        for (std::size_t left = chance.below(kMaxBurst + 1); left > 0; --left) {
            frames.push_back(some_frame(chance));
        }
        const std::vector<Decision> got = box.judge_burst(frames, now);
        for (std::size_t i = 0; i < frames.size(); ++i) {
            expect_same(got[i], one_by_one.judge(frames[i], now),
                        "round " + std::to_string(round) + ", packet " + std::to_string(i));
        }
        ASSERT_EQ(counts_of(box), counts_of(one_by_one)) << round;
    }
    EXPECT_GT(banned_by(box), 500U);
}

// A ban that begins in the burst before this one, which has been matched by then.
TEST_P(AnyOrder, BurstsOnTheirWayAreDecidedOneAfterTheOther) {
    Box one_by_one{GetParam()};
    Box box{GetParam()};
    std::array<test::ReusedBurst, 2> bursts{test::empty_burst(), test::empty_burst()};
    std::array<std::vector<Octets>, 2> frames;
    Chance chance{8};
    Instant now = kStart;
    for (std::size_t round = 0; round < 600; ++round) {
        Burst& coming = *bursts[round % 2];
        Burst& going = *bursts[(round + 1) % 2];
        // Now and then nothing comes, and time goes on.
        const bool comes = round % 20 != 19;
        frames[round % 2].clear();
        for (std::size_t left = comes ? chance.below(kMaxBurst + 1) : 0; left > 0; --left) {
            frames[round % 2].push_back(some_frame(chance));
        }
        test::fill(coming, frames[round % 2]);
        box.run_overlapped(coming, going, now);
        const std::vector<Octets>& sent = frames[(round + 1) % 2];
        for (std::size_t i = 0; i < sent.size(); ++i) {
            expect_same(going.packets()[i].decision, one_by_one.judge(sent[i], now),
                        "round " + std::to_string(round) + ", packet " + std::to_string(i));
        }
        now += comes ? 0ms : 50ms;
    }
    EXPECT_EQ(counts_of(box), counts_of(one_by_one));
    EXPECT_GT(banned_by(box), 500U);
}

INSTANTIATE_TEST_SUITE_P(BannedRows, AnyOrder,
                         testing::Values("version: 1\nrules:\n" + kBans,
                                         "version: 1\nrules:\n" + kBans + kOnSight,
                                         "version: 1\nrules:\n" + kBans + kOnSight + kAll,
                                         "version: 1\n" + kBypass + "rules:\n" + kOnSight + kBans +
                                             kAll));

// A ban that begins in the burst comes before what rules decide on sight behind it.
TEST(BannedRows, ABanComesBeforeWhatIsDecidedOnSight) {
    Box box{"version: 1\nrules:\n" + ban_rule("r", "53", "ip.src") + kOnSight};
    const Octets mine = udp().src("10.0.0.1").dport(53).bytes();
    const Octets open = udp().src("10.0.0.1").dport(11).bytes();
    const auto got = box.judge_burst({mine, open, mine, open, mine, open, open}, kStart);
    EXPECT_EQ(got[1].reason, Reason::AllowRule);
    EXPECT_EQ(got[3].reason, Reason::AllowRule);
    EXPECT_EQ(got[4].reason, Reason::OverLimit);
    EXPECT_EQ(got[5].reason, Reason::BannedSource);
    EXPECT_EQ(got[6].reason, Reason::BannedSource);
    EXPECT_EQ(box.counters(3).admitted.read(), 2U);
    EXPECT_EQ(box.counters(1).exceeded.read(), 2U) << "nor is it seen by rules that watch";
    EXPECT_EQ(box.counters().bans[0].banned_sources.read(), 2U);
}

// Whoever asks has matched the packet without knowing of the ban.
TEST(BannedRows, AWorkerThatIsAskedSaysWhatItKnows) {
    Box box{"version: 1\nrules:\n" + ban_rule("r", "53", "ip.src") + kOnSight + kAll};
    WorkerCounters counters;
    CoreState asker{
        .hash = KeyHasher{test::kBoxSecret}, .buckets = BucketStore{64, 64}, .counters = counters};
    test::ReusedBurst burst = test::empty_burst();
    std::vector<LimitFinding> findings(64);
    std::vector<BanFinding> bans(8);
    const auto asked = [&](std::uint16_t port) {
        const std::vector<Octets> frames{udp().src("10.0.0.1").dport(port).bytes()};
        test::fill(*burst, frames);
        match_stages(*burst, box.set(), asker, {kStart, {}});
        key_burst(*burst, box.set(), asker);
        const DryRun run = box.dry_run(*burst, kStart, {findings, bans});
        EXPECT_TRUE(run.decided);
        return run.decision.reason;
    };
    EXPECT_EQ(asked(11), Reason::AllowRule);
    EXPECT_EQ(asked(9000), Reason::WithinLimits);
    for (int i = 0; i < 3; ++i) {
        (void)box.judge(udp().src("10.0.0.1").dport(53), kStart);
    }
    for (const std::uint16_t port : std::initializer_list<std::uint16_t>{10, 11, 53, 9000}) {
        EXPECT_EQ(asked(port), Reason::BannedSource) << port;
    }
    EXPECT_EQ(box.counters().bans[0].banned_sources.read(), 0U);
    EXPECT_EQ(box.counters(3).admitted.read(), 0U);
}

}  // namespace
}  // namespace sluice::banned_rows_test
