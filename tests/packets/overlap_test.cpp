#include "tests/packets/box.hpp"
#include "tests/packets/frame.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

// Two bursts in flight decide what one after the other would have decided.
namespace sluice::overlap_test {
namespace {

using namespace std::chrono_literals;
using test::Box;
using test::Octets;
using test::tcp;
using test::udp;

constexpr std::string_view kRules = R"(version: 1
rules:
  - {id: each, mode: enforce, key: [ip.src],
     limits: [{algorithm: token_bucket, rate: 1000/s, burst: 3}]}
  - {id: bytes, mode: enforce, when: ip.proto eq 6, key: [ip.dst],
     limits: [{algorithm: token_bucket, rate: 1KB/s, burst: 1KB, per: byte}]}
  - {id: window, mode: monitor, when: l4.dport eq 53, key: [ip.src, l4.dport],
     limits: [{algorithm: fixed_window, count: 2, window: 10ms}]}
  - {id: shut, mode: enforce, when: l4.dport eq 99, on_match: drop}
)";

Octets some_frame(std::mt19937_64& random) {
    const std::string last = std::to_string(random() % 20);
    const auto port = static_cast<std::uint16_t>(random() % 2 == 0 ? 53 : 99 + random() % 20);
    switch (random() % 8) {
        case 0:
            return test::arp().bytes();
        case 1:
            return udp().src("10.0.0." + last).ip_len(2000).bytes();
        case 2:
        case 3:
            return tcp().src("10.0.0." + last).dst("192.0.2." + last).dport(port).bytes();
        case 4:
            return udp().src("2001:db8::" + last).dst("2001:db8::1").dport(port).bytes();
        default:
            return udp().src("10.0.0." + last).dport(port).bytes();
    }
}

struct Sent {
    std::vector<Octets> frames;
    Instant at;
};

std::vector<Sent> some_bursts(std::size_t count) {
    std::mt19937_64 random{5};
    std::vector<Sent> bursts(count);
    Instant now{1h};
    for (Sent& burst : bursts) {
        now += Nanoseconds{static_cast<std::int64_t>(random() % 3'000'000)};
        burst.at = now;
        // An empty one now and then, as when there is no traffic.
        for (std::uint64_t left = random() % 10 == 0 ? 0 : random() % (kMaxBurst + 1); left > 0;
             --left) {
            burst.frames.push_back(some_frame(random));
        }
    }
    return bursts;
}

void expect_same(std::span<const Packet> one, std::span<const Packet> other, std::size_t burst) {
    ASSERT_EQ(one.size(), other.size());
    for (std::size_t i = 0; i < one.size(); ++i) {
        EXPECT_EQ(one[i].decision.verdict, other[i].decision.verdict) << burst << " " << i;
        EXPECT_EQ(one[i].decision.reason, other[i].decision.reason) << burst << " " << i;
        EXPECT_EQ(one[i].decision.rule, other[i].decision.rule) << burst << " " << i;
        EXPECT_EQ(one[i].decision.wait, other[i].decision.wait) << burst << " " << i;
    }
}

// Of the bursts of the overlapped one, once they were judged.
struct Totals {
    std::size_t refused = 0;
    std::size_t missed = 0;  // look-ups whose keys were not in their first lines
};

Totals compare(Box& plain, Box& overlapped, const std::vector<Sent>& bursts) {
    Burst alone;
    Burst flying[2];
    Totals totals;
    for (std::size_t i = 0; i <= bursts.size() && !testing::Test::HasFailure(); ++i) {
        Burst& coming = flying[i % 2];
        Burst& going = flying[(i + 1) % 2];
        if (i < bursts.size()) {
            test::fill(coming, bursts[i].frames);
        } else {
            coming.clear();
        }
        overlapped.run_overlapped(coming, going, i == 0 ? Instant{1h} : bursts[i - 1].at);
        if (i == 0) {
            continue;
        }
        test::fill(alone, bursts[i - 1].frames);
        plain.run(alone, bursts[i - 1].at);
        expect_same(going.packets(), alone.packets(), i);
        for (const Packet& packet : going.packets()) {
            totals.refused += packet.decision.reason == Reason::OverLimit ? 1U : 0U;
        }
        const Scratch& scratch = going.scratch();
        totals.missed += scratch.miss_count;
    }
    return totals;
}

TEST(Overlap, DecidesAsOneBurstAfterTheOther) {
    Box plain{kRules};
    Box overlapped{kRules};
    EXPECT_GT(compare(plain, overlapped, some_bursts(3000)).refused, 1000U);
    for (std::size_t rule = 0; rule < 4; ++rule) {
        EXPECT_EQ(plain.counters(rule).admitted.read(), overlapped.counters(rule).admitted.read());
        EXPECT_EQ(plain.counters(rule).exceeded.read(), overlapped.counters(rule).exceeded.read());
        EXPECT_GT(plain.counters(rule).exceeded.read(), 100U);
    }
}

// Of 400 keys every fourth is exempt, and every fourth has numbers of its own; half of these are
// swept away again and again, some between being located and being judged.
constexpr std::uint64_t kKeys = 400;

std::string address_of(std::uint64_t number) {
    return "10.0." + std::to_string(number / 100) + "." + std::to_string(number % 100);
}

// `others`: limits that never refuse, with which packets take the long way.
std::string overridden_rules(const std::string& others) {
    std::string said;
    for (std::uint64_t number = 0; number < kKeys; number += 2) {
        said += "{key: [" + address_of(number) +
                (number % 4 == 0   ? "], exempt: true}, "
                 : number % 8 == 2 ? "], limits: {\"1\": {rate: 500/s, burst: 2}}}, "
                                   : "], limits: {\"1\": {rate: " + std::to_string(100 + number) +
                                         "/m, burst: 100}}}, ");
    }
    return "version: 1\nrules:\n  - {id: r, mode: enforce, key: [ip.src], limits: "
           "[{algorithm: token_bucket, rate: 60/m, burst: 60}" +
           others + "], overrides: {inline: [" + said + "]}}\n";
}

std::vector<Sent> bursts_of_keys(std::size_t count) {
    std::mt19937_64 random{5};
    std::vector<Sent> bursts(count);
    Instant now{1h};
    for (std::size_t i = 0; i < count; ++i) {
        now += Nanoseconds{static_cast<std::int64_t>(random() % 3'000'000)};
        bursts[i].at = now;
        for (std::size_t left = i % 50 == 0 ? 0 : 1 + random() % kMaxBurst; left > 0; --left) {
            // In every other stretch of time, of keys that are exempt for the most part.
            const std::uint64_t number = random() % kKeys;
            const bool mostly = i / 100 % 2 == 1 && random() % 4 != 0;
            bursts[i].frames.push_back(
                random() % 20 == 0
                    ? test::arp().bytes()
                    : udp().src(address_of(mostly ? number / 4 * 4 : number)).bytes());
        }
    }
    return bursts;
}

// Keys that lie in second lines are found later than others.
TEST(Overlap, OverridesAreJudgedTheSameWhereverBucketsLie) {
    Box plain{overridden_rules(", {algorithm: token_bucket, rate: 100M/s, burst: 100M}")};
    Box tight{overridden_rules(""), BucketStore{325, 4096}};
    const Totals totals = compare(plain, tight, bursts_of_keys(6000));
    EXPECT_GT(totals.refused, 1000U);
    EXPECT_GT(totals.missed, 1000U);
    EXPECT_EQ(plain.counters(0).exempted.read(), tight.counters(0).exempted.read());
    EXPECT_EQ(plain.counters(0).exceeded.read(), tight.counters(0).exceeded.read());
}

// A burst that has been sent and holds no packets any more has nothing left to be looked for.
TEST(Overlap, AnEmptiedBurstIsNotLocatedAgain) {
    Box box{kRules};
    const Sent sent = some_bursts(2).back();
    Burst coming;
    Burst going;
    test::fill(coming, sent.frames);
    box.run(coming, sent.at);
    coming.clear();
    EXPECT_TRUE(coming.scratch().all_lookups().empty());
    box.run_overlapped(going, coming, sent.at);
    EXPECT_EQ(coming.packets().size(), 0U);
}

}  // namespace
}  // namespace sluice::overlap_test
