#include "dataplane/io/handover.hpp"

#include "dataplane/io/dpdk_io.hpp"
#include "dataplane/io/lane_rings.hpp"
#include "dataplane/io/tx_proxy.hpp"
#include "tests/unit/dataplane/ring_pair.hpp"

#include <gtest/gtest.h>

#include <memory>

// Three workers, and a pair of ports with one queue each.
namespace sluice::handover_test {
namespace {

constexpr std::size_t kWorkers = 3;
constexpr std::size_t kSourceOctet = 14 + 15;

const test::RingPair& wires() {
    static const test::RingPair kPair{"handover", kSourceOctet};
    return kPair;
}

constexpr std::array<std::uint8_t, Toeplitz::kKeySize> kKey{
    0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3,
    0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb, 0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3,
    0x80, 0x30, 0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa};

class HandoverTest : public testing::Test {
protected:
    HandoverTest() {
        up.raise(true);
        const PairQueues pair[] = {{"lab", wires().outside(), wires().inside(), 1, true, true}};
        lanes = assign_lanes(pair, kWorkers);
        rings = connect_lanes(lanes);
        for (std::size_t worker = 0; worker < kWorkers; ++worker) {
            make_worker(worker);
        }
        std::vector<TxProxy::Client> clients;
        for (const BackRing& back : rings.backs) {
            const Lane& lane = lanes[back.sender][back.lane];
            if (lane.dir == Direction::In) {
                clients.push_back({back.ring, &sent[back.from]});
            }
        }
        proxy = std::make_unique<TxProxy>(side(0, 0), clients);
    }
    ~HandoverTest() override { wires().expect_no_buffer_lost(); }
    void make_worker(std::size_t worker) {
        handovers.push_back(std::make_unique<LaneHandover>(
            lanes[worker][0], SoftwareRss{hash, Rss::Source, kWorkers, worker},
            std::move(rings.ends[worker][0].rss_mapping), counters[worker]));
        io.push_back(std::make_unique<DpdkIo>(
            lanes[worker][0], TxSides{side(worker, 0), side(worker, opposite_of(0))},
            wires().pool(), LaneWays{handovers.back().get(), {}}));
    }
    [[nodiscard]] TxSide side(std::size_t worker, std::size_t lane) {
        const Lane& of = lanes[worker][lane];
        return {of.tx_port, of.tx_queue, up, tx_full, {}, rings.ends[worker][lane].back};
    }
    // A worker's round; how many frames it met.
    std::size_t round(std::size_t worker) {
        Burst& burst = bursts[worker];
        const std::size_t came = io[worker]->receive(burst);
        for (std::size_t row = 0; row < burst.size(); ++row) {
            seen[worker][static_cast<std::uint8_t>(burst.frame(row).bytes[kSourceOctet])]++;
            burst.packets()[row].decision = {.verdict = Verdict::Pass,
                                             .reason = Reason::WithinLimits};
        }
        io[worker]->send(burst, actions, counters[worker]);
        return came + (worker == 0 ? proxy->send() : 0);
    }
    std::uint64_t counted(Reason reason) {
        std::uint64_t total = 0;
        for (std::size_t worker = 0; worker < kWorkers; ++worker) {
            total += counters[worker].by_reason[static_cast<std::size_t>(reason)].read() +
                     sent[worker].by_reason[static_cast<std::size_t>(reason)].read();
        }
        return total;
    }
    std::uint64_t forwarded_by(std::size_t worker) {
        const auto pass = static_cast<std::size_t>(Verdict::Pass);
        return counters[worker].by_verdict[pass].read() + sent[worker].by_verdict[pass].read();
    }
    void expect_whole_and_in_order(std::uint32_t frames) {
        std::uint32_t total = 0;
        for (const auto& [source, numbers] : wires().take()) {
            EXPECT_TRUE(std::ranges::is_sorted(numbers)) << int{source};
            total += static_cast<std::uint32_t>(numbers.size());
            int workers = 0;
            for (auto& by_source : seen) {
                workers += by_source[source] != 0 ? 1 : 0;
            }
            EXPECT_EQ(workers, 1) << "source " << int{source} << " met several workers";
        }
        EXPECT_EQ(total, frames);
        EXPECT_EQ(counted(Reason::WithinLimits), frames);
        for (std::size_t worker = 0; worker < kWorkers; ++worker) {
            EXPECT_GT(forwarded_by(worker), frames / 10) << "worker " << worker;
        }
        EXPECT_EQ(counters[0].handed_over.read(), forwarded_by(1) + forwarded_by(2));
    }

    Toeplitz hash{kKey};
    const std::vector<Action> actions{kPass, kDrop};
    Signal up;
    Counter tx_full;
    std::vector<std::vector<Lane>> lanes;
    LaneRings rings;
    std::array<WorkerCounters, kWorkers> counters;
    std::array<SentCounts, kWorkers> sent;
    std::array<Burst, kWorkers> bursts;
    std::array<std::array<std::uint32_t, 256>, kWorkers> seen{};
    std::vector<std::unique_ptr<LaneHandover>> handovers;
    std::vector<std::unique_ptr<DpdkIo>> io;
    std::unique_ptr<TxProxy> proxy;
};

TEST_F(HandoverTest, AFlowMeetsOneWorkerAndStaysInOrder) {
    constexpr std::uint32_t kFrames = 2'000;
    test::take_turns(wires(), kWorkers, kFrames, [&](std::size_t worker) { return round(worker); });
    expect_whole_and_in_order(kFrames);
}

TEST_F(HandoverTest, AcrossThreadsToo) {
    constexpr std::uint32_t kFrames = 2'000;
    test::run_threads<kWorkers>(wires(), kFrames,
                                [&](std::size_t worker) { return round(worker); });
    expect_whole_and_in_order(kFrames);
}

// A worker that stands still loses its own frames only, and each is counted once.
TEST_F(HandoverTest, AFullRingDropsAndCounts) {
    test::fill_a_ring(
        wires(), kFrameRingSize, [&](std::size_t worker) { return round(worker); },
        [&](Reason reason) { return counted(reason); });
}

// What waits to be sent when the port's link is gone is counted as that.
TEST_F(HandoverTest, WhatTheSenderCannotSendIsCountedForItsWorker) {
    for (std::uint32_t number = 0; number < 300; ++number) {
        wires().put(static_cast<std::uint8_t>(number % 200), number);
    }
    for (int i = 0; i < 100; ++i) {
        (void)round(1 + static_cast<std::size_t>(i) % 2);
        (void)io[0]->receive(bursts[0]);
        for (Packet& packet : bursts[0].packets()) {
            packet.decision = {.verdict = Verdict::Drop, .reason = Reason::OverLimit};
        }
        io[0]->send(bursts[0], actions, counters[0]);
    }
    up.raise(false);
    while (proxy->send() != 0) {
    }
    EXPECT_TRUE(wires().take().empty());
    EXPECT_EQ(counted(Reason::LinkDown) + counted(Reason::OverLimit), 300U);
    EXPECT_EQ(sent[0].by_reason[static_cast<std::size_t>(Reason::LinkDown)].read(), 0U);
    EXPECT_GT(sent[1].by_reason[static_cast<std::size_t>(Reason::LinkDown)].read(), 0U);
    EXPECT_GT(sent[2].by_reason[static_cast<std::size_t>(Reason::LinkDown)].read(), 0U);
}

// Non-IP frames have nothing to hash: they stay with who received them.
TEST_F(HandoverTest, WhatIsNotIpStaysWithItsReceiver) {
    wires().put(test::Octets(60));
    EXPECT_EQ(round(0), 1U);
    EXPECT_EQ(forwarded_by(0), 1U);
    EXPECT_EQ(counters[0].handed_over.read(), 0U);
}

}  // namespace
}  // namespace sluice::handover_test
