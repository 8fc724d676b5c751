#include "dataplane/io/handover.hpp"

#include "dataplane/io/lane_rings.hpp"
#include "dataplane/port/rss_keys.hpp"
#include "tests/unit/dataplane/ring_pair.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <ostream>
#include <random>
#include <set>
#include <string>
#include <vector>

// Four workers, and a pair of ports with one queue each, whose frames are handed over in both
// directions.
namespace sluice::handover_directions_test {
namespace {

constexpr std::size_t kWorkers = 4;
constexpr std::size_t kDirections = 2;
constexpr std::uint32_t kClients = 200;

const test::RingPair& wires() {
    static const test::RingPair kPair{"directions", 0};
    return kPair;
}

struct Spread {
    const char* name;
    std::array<Rss, kDirections> how;  // outside, inside
};

std::ostream& operator<<(std::ostream& out, const Spread& rss_mapping) {
    return out << rss_mapping.name;
}

RssKeys fixed_keys() {
    RssKeys::Seed seed{};
    std::mt19937 random{5};
    for (std::uint8_t& byte : seed) {
        byte = static_cast<std::uint8_t>(random());
    }
    return RssKeys::from(seed).value();
}

test::Octets destination_options() {
    test::Octets bytes;
    test::put32(bytes, 0x1100'0104);  // UDP behind it; PadN
    test::put32(bytes, 0);
    return bytes;
}

// Frames of all kinds, of one version of IP.
std::vector<test::Frame> kinds(bool v6) {
    using test::tcp;
    using test::udp;
    return {udp(),
            tcp(),
            v6 ? test::icmpv6(128, 0) : test::icmp(8, 0),
            v6 ? udp().src("2001:db8::1").extensions(60, destination_options())
               : udp().options(test::Octets(4)),
            tcp().vlan(7),
            udp().vlan(7, 0x88a8).vlan(9),
            udp().frag(0, true),
            udp().frag(2, true),
            tcp().frag(4, false),
            udp().frag(4, false).vlan(7)};
}

// The frame between a client, who is outside, and a server; the client's number ends it.
test::Octets between(test::Frame frame, std::uint32_t client, bool v6, Direction dir) {
    const std::string outside = (v6 ? "2001:db8:1::" : "192.0.2.") + std::to_string(client);
    const char* inside = v6 ? "2001:db8:2::1" : "198.51.100.1";
    if (dir == Direction::In) {
        frame.src(outside).dst(inside);
    } else {
        frame.src(inside).dst(outside).from_inside();
    }
    test::Octets bytes = frame.payload(8).bytes();
    std::memcpy(bytes.data() + bytes.size() - 4, &client, 4);
    return bytes;
}

class HandoverDirections : public testing::TestWithParam<Spread> {
protected:
    HandoverDirections() {
        const PairQueues pair[] = {{"lab", wires().outside(), wires().inside(), 1, true, true}};
        lanes = assign_lanes(pair, kWorkers);
        rings = connect_lanes(lanes);
        for (std::size_t worker = 0; worker < kWorkers; ++worker) {
            for (std::size_t lane = 0; lane < kDirections; ++lane) {
                const Rss how = GetParam().how[lane];
                handovers[worker][lane] = std::make_unique<LaneHandover>(
                    lanes[worker][lane], SoftwareRss{hashes[lane], how, kWorkers, worker},
                    std::move(rings.ends[worker][lane].rss_mapping), counters[worker]);
            }
        }
    }
    ~HandoverDirections() override { wires().expect_no_buffer_lost(); }

    // All workers' rounds until nothing comes; who met what, by client and direction.
    void run() {
        for (bool came = true; came;) {
            came = false;
            for (std::size_t worker = 0; worker < kWorkers; ++worker) {
                for (std::size_t lane = 0; lane < kDirections; ++lane) {
                    came |= receive(worker, lane);
                }
            }
        }
    }
    bool receive(std::size_t worker, std::size_t lane) {
        std::array<rte_mbuf*, kMaxBurst> frames;
        const LaneHandover::Came came = handovers[worker][lane]->receive(frames.data());
        for (std::uint16_t i = 0; i < came.ours; ++i) {
            std::uint32_t client = 0;
            std::memcpy(&client,
                        rte_pktmbuf_mtod_offset(frames[i], const char*, frames[i]->data_len - 4),
                        4);
            met[client][lane].insert(worker);
            ++received[lane];
            rte_pktmbuf_free(frames[i]);
        }
        return came.all != 0;
    }

    const RssKeys keys = fixed_keys();
    const std::array<Toeplitz, kDirections> hashes{
        Toeplitz{keys.of(GetParam().how[0]).first<Toeplitz::kKeySize>()},
        Toeplitz{keys.of(GetParam().how[1]).first<Toeplitz::kKeySize>()}};
    std::vector<std::vector<Lane>> lanes;
    LaneRings rings;
    std::array<WorkerCounters, kWorkers> counters;
    std::array<std::array<std::unique_ptr<LaneHandover>, kDirections>, kWorkers> handovers;
    std::map<std::uint32_t, std::array<std::set<std::size_t>, kDirections>> met;
    std::array<std::uint32_t, kDirections> received{};
};

TEST_P(HandoverDirections, AFlowMeetsOneWorkerInBothWhateverCarriesIt) {
    for (const bool v6 : {false, true}) {
        met.clear();
        received = {};
        const std::vector<test::Frame> all = kinds(v6);
        for (std::uint32_t client = 0; client < kClients; ++client) {
            for (const test::Frame& kind : all) {
                wires().put(between(kind, client, v6, Direction::In), Direction::In);
                wires().put(between(kind, client, v6, Direction::Out), Direction::Out);
            }
            run();
        }
        EXPECT_EQ(received[0], kClients * all.size());
        EXPECT_EQ(received[1], kClients * all.size());
        std::array<std::uint32_t, kWorkers> flows{};
        for (const auto& [client, workers] : met) {
            ASSERT_EQ(workers[0].size(), 1U) << "client " << client << " in";
            EXPECT_EQ(workers[0], workers[1]) << "client " << client << ", IPv" << (v6 ? 6 : 4);
            ++flows[*workers[0].begin()];
        }
        for (const std::uint32_t count : flows) {
            EXPECT_GT(count, kClients / 10);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Spreads, HandoverDirections,
                         testing::Values(Spread{"addresses outside",
                                                {Rss::Source, Rss::Destination}},
                                         Spread{"symmetric", {Rss::Symmetric, Rss::Symmetric}}));

}  // namespace
}  // namespace sluice::handover_directions_test
