#include "tests/packets/box.hpp"
#include "tests/packets/frame.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>

// Rules of tenants over packets: each judges what arrives for its tenant's networks, and nothing
// else.
namespace sluice::tenant_cases_test {
namespace {

using namespace std::chrono_literals;
using test::Box;
using test::Frame;
using test::udp;

constexpr Instant kStart{1h};
constexpr std::string_view kOperators =
    "version: 1\nrules: [{id: own, mode: enforce, when: l4.dport eq 7, on_match: drop}]\n";

TenantOptions tenant(std::string name, std::string_view network) {
    return {.name = std::move(name), .networks = {*parse_prefix(network)}, .table_share = 50};
}
const TenantOptions kAcme = tenant("acme", "198.51.100.0/24");
const TenantOptions kZeta = tenant("zeta", "203.0.113.0/24");

RuleSet joint(std::string_view acme, std::string_view zeta = "version: 1\nrules: []\n",
              std::string_view operators = kOperators) {
    const std::array parts{
        RuleFilePart{.file = "rules", .text = operators, .folder = "/"},
        RuleFilePart{.file = "acme", .text = acme, .folder = "", .tenant = &kAcme},
        RuleFilePart{.file = "zeta", .text = zeta, .folder = "", .tenant = &kZeta}};
    return test::enforced({.file = "rules", .text = operators, .parts = parts}).set;
}

std::string dropping(std::string_view when) {
    return "version: 1\nrules: [{id: r, mode: enforce, when: '" + std::string{when} +
           "', on_match: drop}]\n";
}

struct Row {
    const char* what;
    std::string rules;
    Frame frame;
    bool is_dropped;
};

const std::string kEvery = "version: 1\nrules: [{id: r, mode: enforce, on_match: drop}]\n";

const Row kRows[] = {
    {"what arrives for the tenant", kEvery, udp().dst("198.51.100.9"), true},
    {"what arrives for somebody else", kEvery, udp().dst("203.0.113.9"), false},
    {"the last address of its network", kEvery, udp().dst("198.51.100.255"), true},
    {"the first one behind it", kEvery, udp().dst("198.51.101.0"), false},
    {"what leaves from its network", kEvery,
     udp().src("198.51.100.9").dst("192.0.2.1").from_inside(), false},
    {"what leaves for its network", kEvery, udp().dst("198.51.100.9").from_inside(), false},
    {"what arrives with its address as the source", kEvery,
     udp().src("198.51.100.9").dst("192.0.2.1"), false},
    {"its own condition holds too", dropping("l4.dport eq 53"), udp().dst("198.51.100.9").dport(53),
     true},
    {"and without it nothing happens", dropping("l4.dport eq 53"),
     udp().dst("198.51.100.9").dport(54), false},
    {"an `or` leads nowhere else", dropping("l4.dport eq 53 or ip.src eq 192.0.2.1"),
     udp().src("192.0.2.1").dst("203.0.113.9").dport(53), false},
    {"nor does a `not`", dropping("not (ip.dst in {198.51.100.0/24})  or l4.dport eq 53"),
     udp().dst("203.0.113.9").dport(53), false},
    {"nor another address", dropping("ip.dst eq 203.0.113.9 or l4.dport eq 53"),
     udp().dst("203.0.113.9").dport(53), false},
    {"nor the other direction", dropping("dir eq \"out\" or l4.dport eq 53"),
     udp().src("198.51.100.9").dst("192.0.2.1").dport(53).from_inside(), false},
    {"the operator's own", kEvery, udp().dst("203.0.113.9").dport(7), true},
};

TEST(TenantCases, JudgeWhatArrivesForTheTenant) {
    for (const Row& row : kRows) {
        Box box{joint(row.rules)};
        EXPECT_EQ(box.judge(row.frame, kStart).verdict == Verdict::Drop, row.is_dropped)
            << row.what;
    }
}

// The operator's limit refuses what a tenant's rule would let on, or answer.
TEST(TenantCases, TakeNothingFromTheOperatorsLimits) {
    constexpr std::string_view kLimited =
        "version: 1\nrules: [{id: own, mode: enforce, key: [], limits: [{algorithm: token_bucket, "
        "rate: 1/d, burst: 1}]}]\n";
    Box box{
        joint("version: 1\nrules: [{id: r, mode: enforce, key: [], limits: [{algorithm: "
              "token_bucket, rate: 1/d, burst: 1}], on_exceed: {action: pass}}]\n",
              "version: 1\nrules: []\n", kLimited)};
    const Frame frame = udp().dst("198.51.100.9");
    EXPECT_EQ(box.judge(frame, kStart).verdict, Verdict::Pass);
    EXPECT_EQ(box.judge(frame, kStart).verdict, Verdict::Drop);
}

// A tenant whose keys are many has its own part of the table, and the other finds its places.
TEST(TenantCases, FillNoMoreThanTheirShareOfTheTable) {
    constexpr std::string_view kEach =
        "version: 1\nrules: [{id: r, mode: enforce, key: [ip.src], on_full: closed, limits: "
        "[{algorithm: token_bucket, rate: 1/d, burst: 1}]}]\n";
    Box box{joint(kEach, kEach), BucketStore{256, 256}};
    std::size_t refused = 0;
    for (int i = 0; i < 1000; ++i) {
        const std::string source =
            "10.0." + std::to_string(i / 250) + "." + std::to_string(i % 250);
        refused +=
            box.judge(udp().src(source).dst("198.51.100.9"), kStart).reason == Reason::TableFull
                ? 1
                : 0;
    }
    EXPECT_GT(refused, 500U) << "the flood has met the tenant's share";
    EXPECT_GT(box.counted(TableEvent::ShareFull), 0U);
    std::size_t admitted = 0;
    for (int i = 0; i < 64; ++i) {
        const std::string source = "10.9.0." + std::to_string(i);
        admitted += box.judge(udp().src(source).dst("203.0.113.9"), kStart).verdict == Verdict::Pass
                        ? 1
                        : 0;
    }
    EXPECT_EQ(admitted, 64U) << "the other tenant has its places";
}

// Rules that a tenant had before leave their debts, and these count for it too: neither other ids,
// nor other keys, nor shares that move from one rule to the next get it more of the table.
TEST(TenantCases, HoldNoMoreOfTheTableByChangingTheirRules) {
    const auto of = [](int number, const std::string& more) {
        return "  - {id: r" + std::to_string(number) +
               ", mode: enforce, key: [ip.src], on_full: closed, " + more +
               "limits: [{algorithm: token_bucket, rate: 1/d, burst: 1}]}\n";
    };
    const std::string begin = "version: 1\nrules:\n";
    for (const bool moves_share : {false, true}) {
        SCOPED_TRACE(moves_share);
        Box box{joint(begin + of(0, "")), BucketStore{256, 256}};
        const auto entries = [&] {
            std::uint64_t live = 0;
            for (std::size_t slot = 0; slot < kSlots; ++slot) {
                live += box.buckets().registry.entries_of(static_cast<LimitSlot>(slot)).read();
            }
            return live;
        };
        for (int round = 0; round < 9; ++round) {
            for (int i = 0; i < 300; ++i) {
                const std::string source = "10." + std::to_string(round) + "." +
                                           std::to_string(i / 250) + "." + std::to_string(i % 250);
                (void)box.judge(udp().src(source).dst("198.51.100.9"), kStart);
            }
            EXPECT_LE(entries(), box.buckets().keys.slots() / 2) << round;
            const std::string next =
                moves_share ? of(round, "table_share: 1%, ") + of(round + 1, "table_share: 49%, ")
                            : of(round + 1, "");
            ASSERT_TRUE(box.reload_compiled(joint(begin + next)));
        }
        ASSERT_TRUE(box.reload_compiled(joint("version: 1\nrules: []\n", begin + of(0, ""))));
        std::size_t admitted = 0;
        for (int i = 0; i < 64; ++i) {
            const std::string source = "10.99.0." + std::to_string(i);
            admitted +=
                box.judge(udp().src(source).dst("203.0.113.9"), kStart).verdict == Verdict::Pass
                    ? 1
                    : 0;
        }
        EXPECT_EQ(admitted, 64U) << "the other tenant has its places";
        // Its debts end, and it has its part again.
        ASSERT_TRUE(box.reload_compiled(joint(begin + of(99, ""))));
        for (std::size_t i = 0; i < box.buckets().keys.lines(); ++i) {
            (void)box.judge(test::arp().bytes(), kStart + 48h);
        }
        EXPECT_EQ(box.judge(udp().src("10.99.0.1").dst("198.51.100.9"), kStart + 48h).verdict,
                  Verdict::Pass);
    }
}

// Buckets with lines of the pool, which has fewer of these than the table has places.
TEST(TenantCases, TakeNoMoreThanTheirShareOfThePool) {
    constexpr std::string_view kEach =
        "version: 1\nrules: [{id: r, mode: enforce, key: [ip.src], on_full: closed, limits: "
        "[{algorithm: sliding_window, count: 5, window: 1h}]}]\n";
    Box box{joint(kEach, kEach), BucketStore{1024, 256}};
    for (int i = 0; i < 1000; ++i) {
        const std::string source =
            "10.0." + std::to_string(i / 250) + "." + std::to_string(i % 250);
        (void)box.judge(udp().src(source).dst("198.51.100.9"), kStart);
    }
    std::size_t admitted = 0;
    for (int i = 0; i < 64; ++i) {
        const std::string source = "10.9.0." + std::to_string(i);
        admitted += box.judge(udp().src(source).dst("203.0.113.9"), kStart).verdict == Verdict::Pass
                        ? 1
                        : 0;
    }
    EXPECT_EQ(admitted, 64U);
}

// Limits of rules that a tenant had before keep their slots while their buckets are in debt: it is
// refused new ones before others lack any.
TEST(TenantCases, LeaveFewLimitsBehindWhoseBucketsAreInDebt) {
    const auto rules = [](int round) {
        std::string text = "version: 1\nrules: [{id: r" + std::to_string(round) +
                           ", mode: enforce, key: [], limits: [";
        for (int i = 0; i < 16; ++i) {
            text += (i == 0 ? "" : ", ") +
                    std::string{"{algorithm: token_bucket, rate: 1/d, burst: "} +
                    std::to_string(700 + i) + "}";
        }
        return text + "]}]\n";
    };
    Box box{joint(rules(0))};
    int round = 0;
    for (bool fits = true; fits && round < 100;) {
        (void)box.judge(udp().dst("198.51.100.9"), kStart);
        const Result<Done> done = box.reload_compiled(joint(rules(++round)));
        fits = bool(done);
        if (!fits) {
            EXPECT_NE(done.error().what.find("left the rules of acme"), std::string::npos)
                << done.error().what;
        }
    }
    EXPECT_EQ(round, 33) << "of 512 limits, 16 in each round";
    EXPECT_TRUE(box.reload_compiled(joint("version: 1\nrules: []\n", rules(0), rules(7))))
        << "others bring what they like";
}

// Two tenants with a rule of one id, and the same keys, have buckets of their own.
TEST(TenantCases, HaveBucketsOfTheirOwn) {
    constexpr std::string_view kOnce =
        "version: 1\nrules: [{id: r, mode: enforce, key: [ip.src], limits: [{algorithm: "
        "token_bucket, rate: 1/d, burst: 1}]}]\n";
    Box box{joint(kOnce, kOnce)};
    const Frame to_acme = udp().src("192.0.2.1").dst("198.51.100.9");
    EXPECT_EQ(box.judge(to_acme, kStart).verdict, Verdict::Pass);
    EXPECT_EQ(box.judge(to_acme, kStart).verdict, Verdict::Drop);
    EXPECT_EQ(box.judge(udp().src("192.0.2.1").dst("203.0.113.9"), kStart).verdict, Verdict::Pass);
}

}  // namespace
}  // namespace sluice::tenant_cases_test
