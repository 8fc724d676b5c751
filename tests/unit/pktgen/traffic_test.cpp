#include "tests/pktgen/traffic.hpp"

#include "lib/packet/parse.hpp"
#include "tests/packets/frame.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

namespace sluice::pktgen::traffic_test {
namespace {

struct Sent {
    test::Octets bytes;
    PacketHeaders headers;
};

Sent next(Traffic& traffic) {
    Sent sent;
    sent.bytes.resize(traffic.next_bytes());
    traffic.write_next(sent.bytes.data(), 1);
    traffic.advance();
    (void)parse_frame({sent.bytes, static_cast<std::uint32_t>(sent.bytes.size())}, {},
                      sent.headers);
    return sent;
}

Traffic made(TrafficPlan plan, const char* profile) {
    plan.profile = find_profile(profile);
    auto traffic = Traffic::make(plan);
    EXPECT_TRUE(traffic);
    return *std::move(traffic);
}

std::uint32_t source_of(const Sent& sent) {
    return load_be32(sent.bytes, sent.headers.l3_at + 12U);
}

TEST(Traffic, ASecondFragmentFollowsTheFirstOfItsDatagram) {
    Traffic traffic = made({.sources = SourceCount{.bits = 3}}, "fragments");
    std::set<std::pair<std::uint32_t, std::uint16_t>> datagrams;
    for (int i = 0; i < 3000; ++i) {
        const Sent first = next(traffic);
        const Sent second = next(traffic);
        EXPECT_EQ(load_be16(first.bytes, 20), 0x2000U);
        EXPECT_EQ(load_be16(second.bytes, 20), 185U);
        EXPECT_EQ(load_be32(first.bytes, 26), load_be32(second.bytes, 26));
        EXPECT_EQ(load_be16(first.bytes, 18), load_be16(second.bytes, 18));
        EXPECT_TRUE(
            datagrams.emplace(load_be32(first.bytes, 26), load_be16(first.bytes, 18)).second);
    }
    EXPECT_EQ(Traffic::make({.profile = find_profile("fragments"), .is_imix = true}).error().what,
              "both fragments of a datagram are of one size: no --size imix");
}

TEST(Traffic, ASourceKeepsToOneQueueAndAllQueuesHaveSome) {
    for (const std::uint16_t queues : std::array<std::uint16_t, 5>{1, 2, 4, 7, 16}) {
        Traffic traffic = made({.sources = SourceCount{.bits = 12}}, "udp");
        std::map<std::uint32_t, std::uint16_t> queue_of;
        std::vector<std::size_t> frames(queues);
        for (int i = 0; i < 3 * 4096; ++i) {
            const std::uint16_t queue = traffic.next_queue(queues);
            ASSERT_LT(queue, queues);
            ++frames[queue];
            const std::uint32_t source = source_of(next(traffic));
            EXPECT_EQ(queue_of.emplace(source, queue).first->second, queue);
        }
        for (const std::size_t count : frames) {
            EXPECT_GT(count, 3U * 4096 / queues * 3 / 4);
        }
    }
}

TEST(Traffic, TheWayBackHasAddressesAndPortsSwapped) {
    for (const Family family : {Family::V4, Family::V6}) {
        TrafficPlan plan{.route = {.family = family}, .is_probed = true};
        for (const char* profile : {"benign", "icmp_flood", "fragments"}) {
            Traffic there = made(plan, profile);
            plan.route.is_back = true;
            Traffic back = made(plan, profile);
            plan.route.is_back = false;
            EXPECT_EQ(back.next_number(), kFirstBack);
            for (int i = 0; i < 1000; ++i) {
                const Sent first = next(there);
                const Sent second = next(back);
                const std::size_t at = first.headers.l3_at + (family == Family::V4 ? 12U : 8U);
                const std::size_t size = family == Family::V4 ? 4 : 16;
                const auto field = [&](const Sent& sent, std::size_t from, std::size_t bytes) {
                    const auto begin = sent.bytes.begin() + static_cast<std::ptrdiff_t>(from);
                    return test::Octets(begin, begin + static_cast<std::ptrdiff_t>(bytes));
                };
                EXPECT_EQ(field(first, at, size), field(second, at + size, size));
                EXPECT_EQ(field(first, at + size, size), field(second, at, size));
                EXPECT_EQ(field(first, 0, 6), field(second, 6, 6));
                EXPECT_EQ(first.headers.sport, second.headers.dport);
                EXPECT_EQ(first.headers.dport, second.headers.sport);
            }
        }
    }
}

TEST(Traffic, GoesThroughAllSourcesBeforeOneComesAgain) {
    Traffic traffic = made({.sources = SourceCount{.bits = 10}}, "udp");
    std::map<std::uint32_t, int> seen;
    std::set<std::pair<std::uint32_t, std::uint16_t>> flows;
    for (int i = 0; i < 3 * 1024; ++i) {
        const Sent sent = next(traffic);
        ++seen[source_of(sent)];
        flows.emplace(source_of(sent), sent.headers.sport);
    }
    EXPECT_EQ(seen.size(), 1024U);
    EXPECT_EQ(flows.size(), 1024U);
    EXPECT_TRUE(std::ranges::all_of(seen, [](const auto& one) { return one.second == 3; }));
}

TEST(Traffic, NewSourcesNeverComeAgain) {
    Traffic v4 = made({}, "udp_flood_spoofed");
    Traffic v6 = made({.route = {.family = Family::V6}}, "udp_flood_spoofed");
    std::set<std::uint32_t> seen;
    std::set<test::Octets> seen_v6;
    for (int i = 0; i < 100'000; ++i) {
        const std::uint32_t source = source_of(next(v4));
        EXPECT_NE(source >> 24, 127U);
        EXPECT_NE(source >> 24, 10U);
        EXPECT_LT(source >> 24, 192U);
        seen.insert(source);
        const Sent sent = next(v6);
        seen_v6.emplace(sent.bytes.begin() + 22, sent.bytes.begin() + 38);
    }
    EXPECT_EQ(seen.size(), 100'000U);
    EXPECT_EQ(seen_v6.size(), 100'000U);
}

TEST(Traffic, ImixHasItsShares) {
    Traffic traffic = made({.is_imix = true}, "udp");
    std::map<std::size_t, int> sizes;
    for (int i = 0; i < 1200; ++i) {
        ++sizes[next(traffic).bytes.size() + kFcs];
    }
    EXPECT_EQ(sizes, (std::map<std::size_t, int>{{64, 700}, {594, 400}, {1518, 100}}));
    EXPECT_NEAR(traffic.mean_wire_bits(), 8 * (7 * 84 + 4 * 614 + 1538) / 12.0, 0.01);
}

TEST(Traffic, AMixHasItsShares) {
    Traffic traffic = made({}, "mix_syn_flood");
    int syn = 0;
    int queries = 0;
    for (int i = 0; i < 1200; ++i) {
        const Sent sent = next(traffic);
        syn += sent.headers.proto == 6 && sent.headers.tcp_flags == 2 ? 1 : 0;
        queries += sent.headers.proto == 17 && sent.headers.dport == 53 ? 1 : 0;
    }
    EXPECT_EQ(syn, 960);
    EXPECT_EQ(queries, 48);
}

TEST(Traffic, RequestsAreOfConnectionsOfTheirOwn) {
    Traffic traffic = made({.sources = SourceCount{.bits = 2}}, "http_get");
    std::set<std::pair<std::uint32_t, std::uint16_t>> connections;
    for (int i = 0; i < 4 * 60'000; ++i) {
        const Sent sent = next(traffic);
        connections.emplace(source_of(sent), sent.headers.sport);
    }
    EXPECT_EQ(connections.size(), 4U * 60'000);
}

TEST(Traffic, ProbesAreNumberedInTheOrderOfSending) {
    Traffic traffic = made({.is_imix = true, .is_probed = true}, "benign");
    for (std::uint64_t number = 0; number < 5000; ++number) {
        const auto probe = read_probe(next(traffic).bytes);
        ASSERT_TRUE(probe);
        EXPECT_EQ(probe->number, number);
    }
}

TEST(Traffic, ASizeThatOneKindHasNoRoomForIsRefused) {
    EXPECT_FALSE(Traffic::make({.profile = find_profile("mix_dns_amplification"), .size = 512}));
    EXPECT_TRUE(Traffic::make({.profile = find_profile("mix_dns_amplification"), .size = 1500}));
}

}  // namespace
}  // namespace sluice::pktgen::traffic_test
