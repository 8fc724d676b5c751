#include "tests/packets/box.hpp"
#include "tests/packets/frame.hpp"
#include "tests/rounds.hpp"

#include "lib/top/key_sampler.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

// A rule of which keys have overrides is judged in three ways: alone by one, beside others by
// another, and with a second limit, which never refuses, by the long one. All say the same.
namespace sluice::override_ways_test {
namespace {

using namespace std::chrono_literals;
using test::Box;
using test::Octets;
using test::udp;

const int kBursts = test::rounds(240);

struct Row {
    const char* name;
    const char* key;
    const char* numbers;  // of the limit
    const char* per = "packet";
    const char* more = "";
};

const Row kRows[] = {
    {"by source", "ip.src", "rate: 100/s, burst: 3"},
    {"by destination, a period of no whole ns", "ip.dst", "rate: 99/s, burst: 9"},
    {"by client", "client.ip", "rate: 100/s, burst: 3"},
    {"by network", "'prefix(ip.src, 32|64)'", "rate: 100/s, burst: 7"},
    {"bytes", "ip.src", "rate: 100B/s, burst: 150B", "byte"},
    {"a tag", "ip.src", "rate: 100/s, burst: 3", "packet", ", on_exceed: {action: tag, dscp: cs1}"},
};

// What is said of keys: another in each turn.
std::string overrides_of(const Row& row, int turn) {
    const bool bytes = std::string{row.per} == "byte";
    const std::string net = std::string{row.key} == "ip.dst" ? "192.0.2." : "10.0.0.";
    const auto key = [&](int last, const std::string& said) {
        return "{key: [" + net + std::to_string(last) + "], " + said + "}, ";
    };
    const auto numbers = [&](int rate, int burst) {
        const std::string unit = bytes ? "B" : "";
        const int scale = bytes ? 30 : 1;
        return "limits: {\"1\": {rate: " + std::to_string(rate * scale) + unit +
               "/s, burst: " + std::to_string(burst * scale) + unit + "}}";
    };
    return key(1, "exempt: true") + key(2, numbers(3, 20)) + key(3, numbers(200 + turn, 2)) +
           key(4, turn % 2 == 0 ? "exempt: true" : numbers(7, 30)) +
           key(5, numbers(11, 4) + ", until: '1970-01-01T01:00:10Z'") +
           key(6, "exempt: true, until: '1970-01-01T01:00:10Z'") +
           (turn == 1 ? "" : key(7, numbers(999, 50))) + "{key: ['" +
           (std::string{row.key} == "ip.dst" ? "2001:db8::1" : "2001:db8::2") + "'], " +
           numbers(13, 5) + "}";
}

enum class Way { Alone, Beside, Long };

std::string rules_of(const Row& row, Way way, int turn) {
    const std::string key = row.key;
    const bool bytes = std::string{row.per} == "byte";
    const std::string later = bytes ? "rate: 80B/s, burst: 200B" : "rate: 50/s, burst: 6";
    const std::string first = "{algorithm: token_bucket, " +
                              (turn < 2 ? std::string{row.numbers} : later) + ", per: " + row.per +
                              "}";
    const std::string second = ", {algorithm: token_bucket, rate: 100M/s, burst: 100M}";
    return "version: 1\nrules:\n  - {id: each, mode: enforce, key: [" + key + "], limits: [" +
           first + (way == Way::Long ? second : "") + "]" + row.more + ", overrides: {inline: [" +
           overrides_of(row, turn) + "]}}\n" +
           (way == Way::Beside
                ? "  - {id: never, mode: enforce, when: ip.proto eq 250, on_match: drop}\n"
                : "");
}

// `crowd`: most are of a key that is exempt.
Octets some_frame(std::mt19937_64& random, bool crowd) {
    if (crowd && random() % 5 != 0) {
        return udp().src("10.0.0.1").dst("192.0.2.1").bytes();
    }
    const std::string last = std::to_string(random() % 12);
    switch (random() % 10) {
        case 0:
            return udp().src("10.0.0." + last).ihl(3).bytes();
        case 1:
            return udp().src("2001:db8::" + last).dst("2001:db8::1").bytes();
        case 2:
            return test::arp().bytes();
        default:
            return udp().src("10.0.0." + last).dst("192.0.2." + last).bytes();
    }
}

void expect_same(std::span<const Packet> one, std::span<const Packet> other) {
    ASSERT_EQ(one.size(), other.size());
    for (std::size_t i = 0; i < one.size(); ++i) {
        EXPECT_EQ(one[i].decision.verdict, other[i].decision.verdict) << i;
        EXPECT_EQ(one[i].decision.reason, other[i].decision.reason) << i;
        EXPECT_EQ(one[i].decision.rule, other[i].decision.rule) << i;
        EXPECT_EQ(one[i].decision.wait, other[i].decision.wait) << i;
        EXPECT_EQ(one[i].decision.action, other[i].decision.action) << i;
    }
}

void expect_same(const RuleCounters& one, const RuleCounters& other) {
    EXPECT_EQ(one.admitted.read(), other.admitted.read());
    EXPECT_EQ(one.exceeded.read(), other.exceeded.read());
    EXPECT_EQ(one.skipped.read(), other.skipped.read());
    EXPECT_EQ(one.exempted.read(), other.exempted.read());
}

void expect_same(KeySampler& one, KeySampler& other) {
    std::vector<KeySample> samples[2];
    one.ring().drain([&](const KeySample& sample) { samples[0].push_back(sample); });
    other.ring().drain([&](const KeySample& sample) { samples[1].push_back(sample); });
    ASSERT_EQ(samples[0].size(), samples[1].size());
    for (std::size_t i = 0; i < samples[0].size(); ++i) {
        const KeySample& a = samples[0][i];
        const KeySample& b = samples[1][i];
        EXPECT_EQ(a.remaining, b.remaining) << i;
        EXPECT_EQ(a.denied, b.denied) << i;
        ASSERT_EQ(a.size, b.size) << i;
        EXPECT_EQ(std::memcmp(a.key.data(), b.key.data(), a.size), 0) << i;
    }
}

// A box, and what it is asked with.
struct Side {
    Way way;
    Box box;
    KeySampler sampler{3};
    Burst burst;

    Side(const Row& row, Way which, PacketPolicy policy)
        : way{which}, box{rules_of(row, which, 0), policy} {
        box.watch(sampler);
    }
    void run(const std::vector<Octets>& frames, Instant now) {
        burst.clear();
        for (const Octets& frame : frames) {
            (void)burst.add({frame, static_cast<std::uint32_t>(frame.size())}, Direction::In,
                            port_name("lab"));
        }
        box.run(burst, now);
    }
};

void run_all(const Row& row, PacketPolicy policy) {
    Side sides[] = {
        {row, Way::Alone, policy}, {row, Way::Beside, policy}, {row, Way::Long, policy}};
    ASSERT_TRUE(sides[0].box.set().has_one_way());
    ASSERT_FALSE(sides[1].box.set().has_one_way());
    ASSERT_TRUE(sides[1].box.set().has_overrides);
    ASSERT_FALSE(sides[2].box.set().has_overrides);
    std::mt19937_64 random{11};
    Instant now{1h};
    for (int i = 0; i < kBursts; ++i) {
        now += Nanoseconds{static_cast<std::int64_t>(random() % 200'000'000)};
        std::vector<Octets> frames(random() % (kMaxBurst + 1));
        for (Octets& frame : frames) {
            frame = some_frame(random, i / 10 % 2 == 1);
        }
        for (Side& side : sides) {
            if (i % (kBursts / 3) == 0) {
                ASSERT_TRUE(side.box.reload(rules_of(row, side.way, i / (kBursts / 3))));
            }
            side.run(frames, now);
        }
        expect_same(sides[0].burst.packets(), sides[2].burst.packets());
        expect_same(sides[1].burst.packets(), sides[2].burst.packets());
        ASSERT_FALSE(testing::Test::HasFailure()) << row.name << " " << i;
    }
    expect_same(sides[0].sampler, sides[2].sampler);
    for (const Side& side : sides) {
        expect_same(side.box.counters(0), sides[2].box.counters(0));
    }
    EXPECT_GT(sides[0].box.counters(0).exempted.read(), kBursts / 6U) << row.name;
    EXPECT_GT(sides[0].box.counters(0).exceeded.read(), kBursts / 12U) << row.name;
}

TEST(OverrideWays, SayTheSame) {
    for (const Row& row : kRows) {
        run_all(row, {.tell_wait = false});
        run_all(row, {.tell_wait = true});
        ASSERT_FALSE(HasFailure()) << row.name;
    }
}

// A bucket remembers who said its numbers: once somebody else says others, it is asked again.
TEST(OverrideWays, NumbersThatChangeAreSeenAtOnce) {
    const auto rules = [](const char* numbers) {
        return std::string{
                   "version: 1\nrules:\n  - {id: r, mode: enforce, key: [ip.src], limits: "
                   "[{algorithm: token_bucket, rate: 1/h, burst: 5}], overrides: {inline: ["
                   "{key: [10.0.0.1], "} +
               numbers + "}, {key: [10.0.0.9], exempt: true}]}}\n";
    };
    const auto admitted = [](Box& box, Instant now) {
        int count = 0;
        for (int i = 0; i < 50; ++i) {
            const Octets frame = udp().src("10.0.0.1").bytes();
            count += box.judge(frame, now).verdict == Verdict::Pass ? 1 : 0;
        }
        return count;
    };
    Box box{rules("limits: {\"1\": {rate: 1/h, burst: 20}}")};
    EXPECT_EQ(admitted(box, Instant{1h}), 20);
    ASSERT_TRUE(box.reload(rules("limits: {\"1\": {rate: 1/h, burst: 23}}")));
    EXPECT_EQ(admitted(box, Instant{1h}), 3);
    ASSERT_TRUE(box.reload(rules("exempt: true")));
    EXPECT_EQ(admitted(box, Instant{1h}), 50);
    ASSERT_TRUE(box.reload(rules("limits: {\"1\": {rate: 1/h, burst: 24}}")));
    EXPECT_EQ(admitted(box, Instant{1h}), 1);
}

// A bucket remembers that nothing was said of its key; whatever is said later is seen at once.
TEST(OverrideWays, WhatIsSaidLaterIsSeenAtOnce) {
    const auto rules = [](const std::string& said) {
        return "version: 1\nrules:\n  - {id: r, mode: enforce, key: [ip.src], limits: "
               "[{algorithm: token_bucket, rate: 1/h, burst: 5}], overrides: {inline: [" +
               said + "{key: [10.0.0.9], exempt: true}]}}\n";
    };
    const auto admitted = [](Box& box) {
        int count = 0;
        for (int i = 0; i < 50; ++i) {
            const Octets frame = udp().src("10.0.0.1").bytes();
            count += box.judge(frame, Instant{1h}).verdict == Verdict::Pass ? 1 : 0;
        }
        return count;
    };
    const std::string nothing = rules("");
    Box box{nothing};
    EXPECT_EQ(admitted(box), 5);
    ASSERT_TRUE(box.reload(rules("{key: [10.0.0.1], exempt: true}, ")));
    EXPECT_EQ(admitted(box), 50);
    ASSERT_TRUE(box.reload(nothing));
    EXPECT_EQ(admitted(box), 0);
    ASSERT_TRUE(box.reload(rules("{key: [10.0.0.1], limits: {\"1\": {burst: 7}}}, ")));
    EXPECT_EQ(admitted(box), 2);
    ASSERT_TRUE(box.reload(nothing));
    EXPECT_EQ(admitted(box), 0);
    ASSERT_TRUE(box.reload(rules("{key: [10.0.0.1], limits: {\"1\": {burst: 8}}}, ")));
    EXPECT_EQ(admitted(box), 3);
}

// Where that is remembered, parts of a ns may still stand right after numbers have changed.
TEST(OverrideWays, PartsOfANanosecondAreNotTakenForIt) {
    const auto rules = [](const std::string& rate, const std::string& said) {
        return "version: 1\nrules:\n  - {id: r, mode: enforce, key: [ip.src], limits: "
               "[{algorithm: token_bucket, rate: " +
               rate + ", burst: 1}], overrides: {inline: [" + said +
               "{key: [10.0.0.9], exempt: true}]}}\n";
    };
    const auto passes = [](Box& box) {
        return box.judge(udp().src("10.0.0.1").bytes(), Instant{1h}).verdict == Verdict::Pass;
    };
    // A third of a s later is two thirds of a ns before a whole one; the second set says otherwise.
    Box box{rules("3/s", "")};
    EXPECT_TRUE(passes(box));
    EXPECT_FALSE(passes(box));
    ASSERT_TRUE(box.reload(rules("1/s", "{key: [10.0.0.1], exempt: true}, ")));
    EXPECT_EQ(box.buckets().tenants.edition(), 1U);  // until the next burst
    EXPECT_TRUE(passes(box));
    EXPECT_EQ(box.buckets().tenants.edition(), 2U);
}

}  // namespace
}  // namespace sluice::override_ways_test
