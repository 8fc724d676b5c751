#include "tests/packets/box.hpp"
#include "tests/packets/frame.hpp"
#include "tests/rounds.hpp"

#include "lib/top/key_sampler.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

// A rule that is alone takes a way of its own (LoadedSet::has_one_way()), and judges as it does
// beside another one that no packet meets.
namespace sluice::one_way_test {
namespace {

using namespace std::chrono_literals;
using test::Box;
using test::Octets;
using test::tcp;
using test::udp;

const int kBursts = test::rounds(300);

constexpr std::string_view kNeverMet =
    "\n  - {id: never, mode: enforce, when: ip.proto eq 250, on_match: drop}\n";

struct Row {
    const char* name;
    std::string_view rule;  // what follows its mode
    bool one_way = true;
    std::size_t keys = 4096;
};

const Row kRows[] = {
    {"by source", "key: [ip.src], limits: [{algorithm: token_bucket, rate: 100/s, burst: 3}]"},
    {"by destination", "key: [ip.dst], limits: [{algorithm: token_bucket, rate: 100/s, burst: 9}]"},
    {"by network",
     "key: ['prefix(ip.src, 24|64)'], limits: [{algorithm: token_bucket, rate: 100/s, burst: 20}]"},
    {"by client", "key: [client.ip], limits: [{algorithm: token_bucket, rate: 100/s, burst: 3}]"},
    {"bytes",
     "key: [ip.src], limits: [{algorithm: token_bucket, rate: 2KB/s, burst: 200B, per: byte}]"},
    {"a period of no whole ns",
     "key: [ip.src], limits: [{algorithm: token_bucket, rate: 99/s, burst: 3}]"},
    {"a tag",
     "key: [ip.src], limits: [{algorithm: token_bucket, rate: 100/s, burst: 3}], "
     "on_exceed: {action: tag, dscp: cs1}"},
    {"a full table",
     "key: [ip.src], limits: [{algorithm: token_bucket, rate: 10/s, burst: 3}], on_full: closed",
     true, 16},
    {"no whole packets",
     "key: [ip.src], limits: [{algorithm: token_bucket, rate: 5/s, burst: 1, per: connection}]",
     false},
    {"two parts",
     "key: [ip.src, l4.dport], limits: [{algorithm: token_bucket, rate: 100/s, burst: 3}]", false},
    {"another algorithm",
     "key: [ip.src], limits: [{algorithm: fixed_window, count: 3, window: 1s}]", false},
};

std::string rules_of(const Row& row, std::string_view more) {
    return "version: 1\nrules:\n  - {id: each, mode: enforce, " + std::string{row.rule} + "}" +
           std::string{more};
}

Octets some_frame(std::mt19937_64& random) {
    const std::string last = std::to_string(random() % 40);
    switch (random() % 12) {
        case 0:
            return test::arp().bytes();
        case 1:
            return udp().src("10.0.0." + last).udp_len(7).bytes();
        case 2:
            return udp().src("10.0.0." + last).ihl(3).bytes();
        case 3:
            return tcp().src("10.0.0." + last).dst("192.0.2." + last).flags(2).size(200).bytes();
        case 4:
            return udp().src("2001:db8::" + last).dst("2001:db8::1").bytes();
        case 5:
            return udp().src("10.0.0." + last).vlan(5).bytes();
        case 6:
            return udp().src("10.0.0." + last).frag(8, false).bytes();
        default:
            return udp().src("10.0.0." + last).dst("192.0.2." + last).bytes();
    }
}

using Frames = std::vector<Octets>;
Frames some_frames(std::mt19937_64& random) {
    Frames frames(random() % (kMaxBurst + 1));
    for (Octets& frame : frames) {
        frame = some_frame(random);
    }
    return frames;
}

void expect_same(std::span<const Packet> alone, std::span<const Packet> beside) {
    ASSERT_EQ(alone.size(), beside.size());
    for (std::size_t i = 0; i < alone.size(); ++i) {
        const Decision& one = alone[i].decision;
        const Decision& other = beside[i].decision;
        EXPECT_EQ(one.verdict, other.verdict) << i;
        EXPECT_EQ(one.reason, other.reason) << i;
        EXPECT_EQ(one.rule, other.rule) << i;
        EXPECT_EQ(one.key, other.key) << i;
        EXPECT_EQ(one.wait, other.wait) << i;
        EXPECT_EQ(one.tag == nullptr, other.tag == nullptr) << i;
    }
}

void expect_same(const RuleCounters& alone, const RuleCounters& beside) {
    EXPECT_EQ(alone.admitted.read(), beside.admitted.read());
    EXPECT_EQ(alone.exceeded.read(), beside.exceeded.read());
    EXPECT_EQ(alone.skipped.read(), beside.skipped.read());
}

// All samples there are.
std::vector<KeySample> samples_of(KeySampler& sampler) {
    std::vector<KeySample> samples;
    sampler.ring().drain([&](const KeySample& sample) { samples.push_back(sample); });
    return samples;
}

void expect_same(const std::vector<KeySample>& alone, const std::vector<KeySample>& beside) {
    ASSERT_EQ(alone.size(), beside.size());
    for (std::size_t i = 0; i < alone.size(); ++i) {
        EXPECT_EQ(alone[i].rule, beside[i].rule);
        EXPECT_EQ(alone[i].weight, beside[i].weight);
        EXPECT_EQ(alone[i].remaining, beside[i].remaining);
        EXPECT_EQ(alone[i].denied, beside[i].denied);
        ASSERT_EQ(alone[i].size, beside[i].size);
        EXPECT_EQ(std::memcmp(alone[i].key.data(), beside[i].key.data(), alone[i].size), 0);
    }
}

// Bursts of any frames, two in flight, as a worker has them.
void run_both(const Row& row, PacketPolicy policy) {
    Box alone{rules_of(row, ""), policy, row.keys};
    Box beside{rules_of(row, kNeverMet), policy, row.keys};
    ASSERT_EQ(alone.set().has_one_way(), row.one_way) << row.name;
    ASSERT_FALSE(beside.set().has_one_way());
    KeySampler samples[2]{KeySampler{3}, KeySampler{3}};
    alone.watch(samples[0]);
    beside.watch(samples[1]);
    std::mt19937_64 random{11};
    Burst flying[2][2];
    Frames frames[2];
    Instant now{1h};
    for (int i = 0; i < kBursts; ++i) {
        now += Nanoseconds{static_cast<std::int64_t>(random() % 3'000'000)};
        frames[i % 2] = some_frames(random);
        for (const int box : {0, 1}) {
            test::fill(flying[box][i % 2], frames[i % 2]);
            (box == 0 ? alone : beside)
                .run_overlapped(flying[box][i % 2], flying[box][(i + 1) % 2], now);
        }
        expect_same(flying[0][(i + 1) % 2].packets(), flying[1][(i + 1) % 2].packets());
        ASSERT_FALSE(testing::Test::HasFailure()) << row.name << " " << i;
    }
    expect_same(alone.counters(0), beside.counters(0));
    expect_same(samples_of(samples[0]), samples_of(samples[1]));
    EXPECT_GT(alone.counters(0).admitted.read(), kBursts / 6U) << row.name;
    EXPECT_GT(alone.counters(0).exceeded.read(), kBursts / 6U) << row.name;
}

TEST(OneWay, JudgesAsManyRulesDo) {
    for (const Row& row : kRows) {
        run_both(row, {.tell_wait = false});
        run_both(row, {.tell_wait = true});
        ASSERT_FALSE(HasFailure()) << row.name;
    }
}

// Packets that stand where others stood, and come in where those did not.
TEST(OneWay, RowsTellWhereTheirPacketsCameIn) {
    Burst burst;
    const Octets frame = udp().src("10.0.0.1").bytes();
    const FrameView view{frame, static_cast<std::uint32_t>(frame.size())};
    for (const Direction dir : {Direction::In, Direction::Out, Direction::Out, Direction::In}) {
        for (Packet& packet : burst.take_rows(kMaxBurst, dir, 7)) {
            packet.come(view, nullptr);
        }
        for (const Packet& packet : burst.packets()) {
            EXPECT_EQ(packet.flow.dir, dir);
            EXPECT_EQ(packet.flow.port, 7U);
        }
        burst.clear();
        ASSERT_TRUE(burst.add(view, Direction::Out, 8));
        EXPECT_EQ(burst.packets()[0].flow.dir, Direction::Out);
    }
}

}  // namespace
}  // namespace sluice::one_way_test
