#include "tests/packets/box.hpp"
#include "tests/packets/frame.hpp"

#include <gtest/gtest.h>

#include <random>
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

TEST(Overlap, DecidesAsOneBurstAfterTheOther) {
    Box plain{kRules};
    Box overlapped{kRules};
    const std::vector<Sent> bursts = some_bursts(3000);
    Burst alone;
    Burst flying[2];
    std::size_t refused = 0;
    for (std::size_t i = 0; i <= bursts.size(); ++i) {
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
        ASSERT_FALSE(HasFailure());
        for (const Packet& packet : going.packets()) {
            refused += packet.decision.reason == Reason::OverLimit ? 1U : 0U;
        }
    }
    EXPECT_GT(refused, 1000U);
    for (std::size_t rule = 0; rule < 4; ++rule) {
        EXPECT_EQ(plain.counters(rule).admitted.read(), overlapped.counters(rule).admitted.read());
        EXPECT_EQ(plain.counters(rule).exceeded.read(), overlapped.counters(rule).exceeded.read());
        EXPECT_GT(plain.counters(rule).exceeded.read(), 100U);
    }
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
    EXPECT_EQ(coming.scratch().look_count, 0U);
    box.run_overlapped(going, coming, sent.at);
    EXPECT_EQ(coming.packets().size(), 0U);
}

}  // namespace
}  // namespace sluice::overlap_test
