#include "dataplane/handover.hpp"

#include "dataplane/dpdk_io.hpp"
#include "dataplane/lane_rings.hpp"
#include "dataplane/tx_desk.hpp"
#include "tests/packets/frame.hpp"
#include "tests/unit/dataplane/eal_once.hpp"

#include <gtest/gtest.h>

#include <rte_eth_ring.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_ring.h>

#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <thread>

// Three workers, two ports with one queue each that are made of rings: what is put into
// `outside_in` comes in, what is sent to the inside is taken out of `inside_out`.
namespace sluice::handover_test {
namespace {

constexpr std::size_t kWorkers = 3;
constexpr unsigned kPool = 8191;
constexpr unsigned kWireSize = 4096;

struct Wires {
    rte_mempool* pool;
    rte_ring* outside_in;
    rte_ring* inside_out;
    std::uint16_t outside;
    std::uint16_t inside;
};

std::uint16_t port_of(const char* name, rte_ring* in, rte_ring* out, rte_mempool* pool) {
    const int port = rte_eth_from_rings(name, &in, 1, &out, 1, 0);
    rte_eth_conf conf{};
    const auto id = static_cast<std::uint16_t>(port);
    if (port < 0 || rte_eth_dev_configure(id, 1, 1, &conf) != 0 ||
        rte_eth_rx_queue_setup(id, 0, 64, 0, nullptr, pool) != 0 ||
        rte_eth_tx_queue_setup(id, 0, 64, 0, nullptr) != 0 || rte_eth_dev_start(id) != 0) {
        throw std::runtime_error("no port");
    }
    return id;
}

const Wires& wires() {
    static const Wires kWires = [] {
        test::start_eal_once();
        const auto ring = [](const char* name) {
            return rte_ring_create(name, kWireSize, 0, RING_F_SP_ENQ | RING_F_SC_DEQ);
        };
        Wires made{};
        made.pool = rte_pktmbuf_pool_create("handover", kPool, 0, 0, 256, 0);
        made.outside_in = ring("oi");
        made.inside_out = ring("io");
        made.outside = port_of("ho", made.outside_in, ring("oo"), made.pool);
        made.inside = port_of("hi", ring("ii"), made.inside_out, made.pool);
        return made;
    }();
    return kWires;
}

constexpr std::array<std::uint8_t, Toeplitz::kKeySize> kKey{
    0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3,
    0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb, 0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3,
    0x80, 0x30, 0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa};

// A UDP frame of a source, with a number in its payload.
void put(std::uint8_t source, std::uint32_t number) {
    test::Octets bytes = test::udp().payload(8).bytes();
    bytes[14 + 15] = static_cast<std::byte>(source);
    std::memcpy(bytes.data() + bytes.size() - 4, &number, 4);
    rte_mbuf* frame = rte_pktmbuf_alloc(wires().pool);
    ASSERT_NE(frame, nullptr);
    std::memcpy(rte_pktmbuf_append(frame, static_cast<std::uint16_t>(bytes.size())), bytes.data(),
                bytes.size());
    ASSERT_EQ(rte_ring_enqueue(wires().outside_in, frame), 0);
}

class HandoverTest : public testing::Test {
protected:
    HandoverTest() {
        up.raise(true);
        const PairQueues pair[] = {{"lab", wires().outside, wires().inside, 1, true, true}};
        lanes = assign_lanes(pair, kWorkers);
        rings = connect_lanes(lanes);
        for (std::size_t worker = 0; worker < kWorkers; ++worker) {
            make_worker(worker);
        }
        std::vector<TxDesk::Client> clients;
        for (const BackRing& back : rings.backs) {
            const Lane& lane = lanes[back.sender][back.lane];
            if (lane.dir == Direction::In) {
                clients.push_back({back.ring, &sent[back.from]});
            }
        }
        desk = std::make_unique<TxDesk>(side(0, 0), clients);
    }
    ~HandoverTest() override {
        (void)take();
        EXPECT_EQ(rte_mempool_in_use_count(wires().pool), 0U) << "a buffer was lost";
    }
    void make_worker(std::size_t worker) {
        handovers.push_back(std::make_unique<LaneHandover>(
            lanes[worker][0], FrameSpread{hash, Rss::Source, kWorkers, worker},
            std::move(rings.ends[worker][0].spread), counters[worker]));
        io.push_back(std::make_unique<DpdkIo>(
            lanes[worker][0], TxSides{side(worker, 0), side(worker, opposite_of(0))}, wires().pool,
            LaneWays{handovers.back().get(), {}}));
    }
    [[nodiscard]] TxSide side(std::size_t worker, std::size_t lane) {
        const Lane& of = lanes[worker][lane];
        return {of.tx_port, of.tx_queue, up, tx_full, {}, rings.ends[worker][lane].back};
    }
    // A worker's round; how many frames it met.
    std::size_t round(std::size_t worker) {
        Burst& burst = bursts[worker];
        const std::size_t came = io[worker]->receive(burst);
        for (Packet& packet : burst.packets()) {
            seen[worker][static_cast<std::uint8_t>(packet.frame.bytes[14 + 15])]++;
            packet.decision = {.verdict = Verdict::Pass, .reason = Reason::WithinLimits};
        }
        io[worker]->send(burst, actions, counters[worker]);
        return came + (worker == 0 ? desk->send() : 0);
    }
    // Numbers that left inside, by source; freed.
    std::map<std::uint8_t, std::vector<std::uint32_t>> take() {
        std::map<std::uint8_t, std::vector<std::uint32_t>> left;
        void* object = nullptr;
        while (rte_ring_dequeue(wires().inside_out, &object) == 0) {
            auto* frame = static_cast<rte_mbuf*>(object);
            const auto* bytes = rte_pktmbuf_mtod(frame, const std::uint8_t*);
            std::uint32_t number = 0;
            std::memcpy(&number, bytes + frame->data_len - 4, 4);
            left[bytes[14 + 15]].push_back(number);
            rte_pktmbuf_free(frame);
        }
        return left;
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
        for (const auto& [source, numbers] : take()) {
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
    std::unique_ptr<TxDesk> desk;
};

// The workers take turns as chance has it.
TEST_F(HandoverTest, AFlowMeetsOneWorkerAndStaysInOrder) {
    std::mt19937 random{3};
    constexpr std::uint32_t kFrames = 2'000;
    for (std::uint32_t number = 0; number < kFrames; ++number) {
        put(static_cast<std::uint8_t>(random() % 200), number);
        if (random() % 4 == 0) {
            (void)round(random() % kWorkers);
        }
    }
    for (int i = 0; i < 1'000; ++i) {
        (void)round(static_cast<std::size_t>(i) % kWorkers);
    }
    expect_whole_and_in_order(kFrames);
}

// All frames are there before the threads begin, and fewer than the rings hold: a sanitizer that
// watches threads does not see into the driver of the port.
TEST_F(HandoverTest, AcrossThreadsToo) {
    constexpr std::uint32_t kFrames = 2'000;
    std::mt19937 random{4};
    for (std::uint32_t number = 0; number < kFrames; ++number) {
        put(static_cast<std::uint8_t>(random() % 200), number);
    }
    std::array<std::thread, kWorkers> threads;
    Signal stop;
    for (std::size_t worker = 0; worker < kWorkers; ++worker) {
        threads[worker] = std::thread{[this, worker, &stop] {
            while (!stop.raised()) {
                if (round(worker) == 0) {
                    std::this_thread::yield();
                }
            }
        }};
    }
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{20};
    while (rte_ring_count(wires().inside_out) < kFrames &&
           std::chrono::steady_clock::now() < deadline) {
        std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }
    stop.raise(true);
    for (std::thread& thread : threads) {
        thread.join();
    }
    expect_whole_and_in_order(kFrames);
}

// A worker that stands still loses its own frames only, and each is counted once.
TEST_F(HandoverTest, AFullRingDropsAndCounts) {
    constexpr std::uint32_t kFrames = 4'000;
    for (std::uint32_t number = 0; number < kFrames; ++number) {
        put(static_cast<std::uint8_t>(number % 200), number);
    }
    while (round(0) != 0 || round(1) != 0) {
    }
    const std::uint64_t lost = counted(Reason::RingFull);
    EXPECT_GT(lost, 0U);
    std::uint64_t left = 0;
    for (const auto& [source, numbers] : take()) {
        left += numbers.size();
    }
    EXPECT_EQ(left + lost + kFrameRingSize, kFrames) << "the rest waits for worker 2";
    while (round(2) != 0 || round(0) != 0) {
    }
    EXPECT_EQ(counted(Reason::WithinLimits), kFrames - lost);
    EXPECT_EQ(counted(Reason::RingFull), lost);
}

// What waits to be sent when the port's link is gone is counted as that.
TEST_F(HandoverTest, WhatTheSenderCannotSendIsCountedForItsWorker) {
    for (std::uint32_t number = 0; number < 300; ++number) {
        put(static_cast<std::uint8_t>(number % 200), number);
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
    while (desk->send() != 0) {
    }
    EXPECT_TRUE(take().empty());
    EXPECT_EQ(counted(Reason::LinkDown) + counted(Reason::OverLimit), 300U);
    EXPECT_EQ(sent[0].by_reason[static_cast<std::size_t>(Reason::LinkDown)].read(), 0U);
    EXPECT_GT(sent[1].by_reason[static_cast<std::size_t>(Reason::LinkDown)].read(), 0U);
    EXPECT_GT(sent[2].by_reason[static_cast<std::size_t>(Reason::LinkDown)].read(), 0U);
}

// Non-IP frames have nothing to hash: they stay with who received them.
TEST_F(HandoverTest, WhatIsNotIpStaysWithItsReceiver) {
    rte_mbuf* frame = rte_pktmbuf_alloc(wires().pool);
    std::memset(rte_pktmbuf_append(frame, 60), 0, 60);
    ASSERT_EQ(rte_ring_enqueue(wires().outside_in, frame), 0);
    EXPECT_EQ(round(0), 1U);
    EXPECT_EQ(forwarded_by(0), 1U);
    EXPECT_EQ(counters[0].handed_over.read(), 0U);
}

}  // namespace
}  // namespace sluice::handover_test
