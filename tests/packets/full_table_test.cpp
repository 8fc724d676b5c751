#include "tests/packets/box.hpp"
#include "tests/packets/frame.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

// What a new key meets when its places are held by live entries (rules, section 6).
namespace sluice::full_table_test {
namespace {

using namespace std::chrono_literals;
using test::Box;
using test::udp;

constexpr Instant kStart{1h};
constexpr std::size_t kOneLine = 1;  // four places

#define RULES "version: 1\nrules:\n"
#define ONCE_A_DAY "    limits: [{algorithm: token_bucket, rate: 1/d, burst: 1}]\n"

Decision send(Box& box, const std::string& source, Instant now = kStart) {
    return box.judge(udp().src(source).bytes(), now);
}

// Four sources that fill the one line.
void fill(Box& box) {
    for (int i = 1; i <= 4; ++i) {
        ASSERT_EQ(send(box, "192.0.2." + std::to_string(i)).verdict, Verdict::Pass);
    }
}

struct Row {
    std::string_view on_full;
    Verdict verdict;
    Reason reason;
    TableEvent counted;
};

TEST(FullTable, OpenAndClosedAreTheRulesChoice) {
    const Row rows[] = {
        {"closed", Verdict::Drop, Reason::TableFull, TableEvent::Closed},
        {"open", Verdict::Pass, Reason::WithinLimits, TableEvent::Open},
    };
    for (const Row& row : rows) {
        Box box{
            std::string{RULES "  - id: each\n    mode: enforce\n    key: [ip.src]\n    on_full: "} +
                std::string{row.on_full} + "\n" ONCE_A_DAY,
            {},
            kOneLine};
        fill(box);
        const Decision got = send(box, "198.51.100.1");
        EXPECT_EQ(got.verdict, row.verdict) << row.on_full;
        EXPECT_EQ(got.reason, row.reason) << row.on_full;
        EXPECT_EQ(box.counted(TableEvent::TableFull), 1U);
        EXPECT_EQ(box.counted(row.counted), 1U);
        // A key that has its place is judged by its own bucket all the same.
        EXPECT_EQ(send(box, "192.0.2.1").reason, Reason::OverLimit);
    }
}

// Buckets that are opened for one packet do not take each other's place, though none owes anything
// before all rules have admitted it.
TEST(FullTable, TheNewKeysOfAPacketHaveAPlaceEach) {
    Box box{RULES
            "  - {id: from, mode: enforce, key: [ip.src], on_full: closed, "
            "limits: [{algorithm: token_bucket, rate: 10/s, burst: 1}]}\n"
            "  - {id: to, mode: enforce, key: [ip.dst], on_full: closed, "
            "limits: [{algorithm: token_bucket, rate: 10/s, burst: 1}]}\n",
            {},
            kOneLine};
    const auto reason = [&](int from, int to, Instant now) {
        auto frame = udp().src("10.0.0." + std::to_string(from));
        return box.judge(frame.dst("192.0.2." + std::to_string(to)).bytes(), now).reason;
    };
    Instant now = kStart;
    for (int i = 0; i < 200; ++i, now += 150ms) {
        const int from = 1 + i * 7 % 20;
        const int to = 1 + i * 3 % 23;
        ASSERT_EQ(reason(from, to, now), Reason::WithinLimits) << i;
        ASSERT_EQ(reason(from, 200, now), Reason::OverLimit) << i;
        ASSERT_EQ(reason(200, to, now), Reason::OverLimit) << i;
    }
}

// A flood without a place is held to factor times the limit for each network, then, the
// parents' one line of four being full as well, to factor^3 for the rule as a whole: an IPv6 source
// would have had two networks before that.
TEST(FullTable, CoarsensToNetworksAndThenToTheRule) {
    Box box{RULES
            "  - id: each\n    mode: enforce\n    key: [ip.src]\n"
            "    on_full: {coarsen: {factor: 4}}\n" ONCE_A_DAY,
            {},
            kOneLine};
    fill(box);
    std::map<std::string, int> passed;
    int whole = 0;
    for (int host = 1; host <= 60; ++host) {
        for (int net = 0; net < 10; ++net) {
            const std::string network = "10.0." + std::to_string(net) + ".";
            if (send(box, network + std::to_string(host)).verdict == Verdict::Pass) {
                ++passed[network];
                ++whole;
            }
        }
    }
    int own = 0;
    int shared = 0;
    for (const auto& [network, count] : passed) {
        own += count == 4 ? 1 : 0;
        shared += count != 4 ? count : 0;
    }
    EXPECT_GE(own, 4);             // networks that have a parent: burst 1 * 4
    EXPECT_EQ(whole, 4 * 4 + 64);  // and the rest shares the rule's, at 4^3
    EXPECT_GT(box.counted(TableEvent::Coarsened1), 0U);
    EXPECT_GT(box.counted(TableEvent::CoarsenedToRule), 0U);
    EXPECT_EQ(box.counted(TableEvent::Closed), 0U);
    EXPECT_EQ(send(box, "192.0.2.1").reason, Reason::OverLimit);
}

TEST(FullTable, CoarsensIpv6InTwoSteps) {
    Box box{RULES
            "  - id: each\n    mode: enforce\n    key: [ip.src]\n"
            "    on_full: {coarsen: {factor: 2}}\n" ONCE_A_DAY,
            {},
            kOneLine};
    fill(box);
    // Four /64 fill the parents' line; a fifth has neither a /64 nor a /48 of its own.
    for (int net = 0; net < 4; ++net) {
        const std::string network = "2001:db8:" + std::to_string(net) + "::";
        EXPECT_EQ(send(box, network + "1").verdict, Verdict::Pass);
        EXPECT_EQ(send(box, network + "2").verdict, Verdict::Pass);
        EXPECT_EQ(send(box, network + "3").verdict, Verdict::Drop);
    }
    int passed = 0;
    for (int host = 1; host <= 20; ++host) {
        passed += send(box, "2001:db8:9::" + std::to_string(host)).verdict == Verdict::Pass ? 1 : 0;
    }
    EXPECT_EQ(passed, 8);  // the rule, at 2^3
}

// A key that gets a place again starts with no more than its parents have left.
TEST(FullTable, APlaceAgainIsNoFreshStart) {
    const std::string_view rules = RULES
        "  - id: each\n    mode: enforce\n    key: [ip.src]\n"
        "    on_full: {coarsen: {factor: 2}}\n"
        "    limits: [{algorithm: token_bucket, rate: 1/s, burst: 4}]\n";
    Box box{rules, {}, kOneLine};
    for (int i = 1; i <= 4; ++i) {
        ASSERT_EQ(send(box, "192.0.2." + std::to_string(i)).verdict, Verdict::Pass);
    }
    // Live until a second from now. Meanwhile 10.0.0.1 spends all eight of its network, of which
    // two come back in that second.
    for (int i = 0; i < 8; ++i) {
        ASSERT_EQ(send(box, "10.0.0.1").verdict, Verdict::Pass) << i;
    }
    EXPECT_EQ(send(box, "10.0.0.1").verdict, Verdict::Drop);
    const Instant later = kStart + 1s;
    EXPECT_EQ(send(box, "10.0.0.1", later).verdict, Verdict::Pass);
    EXPECT_EQ(send(box, "10.0.0.1", later).verdict, Verdict::Pass);
    EXPECT_EQ(send(box, "10.0.0.1", later).verdict, Verdict::Drop);
    // A stranger from elsewhere owes nothing.
    for (int i = 0; i < 4; ++i) {
        EXPECT_EQ(send(box, "203.0.113.1", later).verdict, Verdict::Pass) << i;
    }
}

// A rule with half of the table leaves the other half to the others, and its idle entries do not
// count against it.
TEST(FullTable, AShareIsAllARuleGets) {
    Box box{RULES
            "  - id: noisy\n    mode: enforce\n    when: ip.proto eq 17\n    key: [ip.src]\n"
            "    on_full: closed\n    table_share: 50%\n"
            "    limits: [{algorithm: token_bucket, rate: 1/s, burst: 1}]\n"
            "  - id: quiet\n    mode: enforce\n    when: ip.proto eq 6\n    key: [ip.src]\n"
            "    on_full: closed\n" ONCE_A_DAY,
            {},
            1000};
    const std::uint64_t half = box.buckets().keys.slots() / 2;
    std::uint64_t passed = 0;
    for (std::uint64_t i = 0; i < 2000; ++i) {
        const std::string source =
            "10.0." + std::to_string(i / 250) + "." + std::to_string(i % 250);
        passed += send(box, source).verdict == Verdict::Pass ? 1U : 0U;
    }
    EXPECT_EQ(passed, half);
    EXPECT_EQ(box.counted(TableEvent::ShareFull), 2000 - half);
    for (int i = 0; i < 200; ++i) {
        const auto frame = test::tcp().src("172.16.0." + std::to_string(i)).bytes();
        EXPECT_EQ(box.judge(frame, kStart).verdict, Verdict::Pass);
    }
    // A second later all of them are idle; the worker notices as it sweeps.
    for (std::size_t i = 0; i < box.buckets().keys.lines(); ++i) {
        (void)box.judge(test::arp().bytes(), kStart + 1s);
    }
    EXPECT_EQ(send(box, "10.1.0.1", kStart + 1s).verdict, Verdict::Pass);
}

// Whatever keys have taken of the pool: each place for a parent has a line, and so has the rule
// itself, so that a limit that coarsens is never closed.
TEST(FullTable, ParentsFindALineInAFullPool) {
    const std::string limits[] = {
        "{algorithm: fixed_window, count: 9, window: 1d}",
        "{algorithm: sliding_window, count: 9, window: 1d}",
        "{algorithm: sliding_counters, count: 9, window: 1d, buckets: 1000}",
        "{algorithm: sliding_log, count: 9, window: 1d}",
        "{algorithm: trtcm, variant: rfc4115, cir: 1/d, cbs: 5, eir: 1/d, ebs: 5}",
    };
    constexpr std::size_t kKeys = 1024;
    for (const std::string& limit : limits) {
        Box box{RULES
                    "  - id: each\n    mode: enforce\n    key: [ip.src]\n    on_full: {coarsen: "
                    "{factor: 16}}\n    limits: [" +
                    limit + "]\n",
                BucketStore{kKeys, kKeys / 2}};
        // The logs of a few keys first, which take lines as they grow; then many networks.
        for (int round = 0; round < 9; ++round) {
            for (int i = 0; i < 100; ++i) {
                (void)send(box, "10.200.0." + std::to_string(i), kStart + round * 10min);
            }
        }
        int passed = 0;
        constexpr int kNetworks = 4000;
        for (int i = 0; i < kNetworks; ++i) {
            const std::string source =
                "10." + std::to_string(i / 250) + "." + std::to_string(i % 250) + ".1";
            passed += send(box, source, kStart + 100min + i * 1s).verdict == Verdict::Pass ? 1 : 0;
        }
        EXPECT_EQ(passed, kNetworks) << limit;
        EXPECT_GT(box.counted(TableEvent::PoolFull), 0U) << limit;
        EXPECT_GE(box.counted(TableEvent::Coarsened1), kKeys / kParentShare) << limit;
        EXPECT_GT(box.counted(TableEvent::CoarsenedToRule), 0U) << limit;
        EXPECT_EQ(box.counted(TableEvent::Closed), 0U) << limit;
    }
}

// States that do not fit an entry lie in a pool; when that is full, so is the table.
TEST(FullTable, AFullPoolIsAFullTable) {
    Box box{RULES
            "  - id: each\n    mode: enforce\n    key: [ip.src]\n    on_full: closed\n"
            "    limits: [{algorithm: sliding_window, count: 1, window: 1d}]\n",
            {},
            64};
    int passed = 0;
    for (int i = 0; i < 64; ++i) {
        passed += send(box, "10.0.0." + std::to_string(i)).verdict == Verdict::Pass ? 1 : 0;
    }
    // A line is kept for each place for a parent.
    const std::size_t kept = box.buckets().parents.slots();
    EXPECT_EQ(static_cast<std::size_t>(passed), 64 - kept);
    EXPECT_EQ(box.counted(TableEvent::PoolFull), kept);
    EXPECT_EQ(box.counted(TableEvent::Closed), kept);
}

}  // namespace
}  // namespace sluice::full_table_test

#undef RULES
#undef ONCE_A_DAY
