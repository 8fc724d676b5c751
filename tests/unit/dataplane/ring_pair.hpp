#pragma once
#include "tests/packets/frame.hpp"
#include "tests/unit/dataplane/eal_once.hpp"

#include "lib/packet/verdict.hpp"
#include "lib/share/core.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <rte_eth_ring.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_ring.h>

// A pair of ports with one queue each that are made of rings, and what tests of frames that several
// workers hand to one another do with it.
namespace sluice::test {

class RingPair {
public:
    // `octet`: the last of the source or destination address, which tells flows apart. One pair of
    // a name in a process.
    RingPair(const std::string& name, std::size_t octet) : octet_{octet} {
        start_eal_once();
        pool_ = rte_pktmbuf_pool_create(name.c_str(), kBuffers, 0, 0, 256, 0);
        outside_in_ = ring(name + "-oi");
        inside_out_ = ring(name + "-io");
        inside_in_ = ring(name + "-ii");
        outside_ = port(name + "-o", outside_in_, ring(name + "-oo"));
        inside_ = port(name + "-i", inside_in_, inside_out_);
    }

    [[nodiscard]] rte_mempool* pool() const noexcept { return pool_; }
    [[nodiscard]] std::uint16_t outside() const noexcept { return outside_; }
    [[nodiscard]] std::uint16_t inside() const noexcept { return inside_; }

    // A UDP frame of a flow comes in outside, with a number in its payload.
    void put(std::uint8_t headers, std::uint32_t number) const {
        Octets bytes = udp().payload(8).bytes();
        bytes[octet_] = static_cast<std::byte>(headers);
        std::memcpy(bytes.data() + bytes.size() - 4, &number, 4);
        put(bytes);
    }
    void put(const Octets& bytes, Direction dir = Direction::In) const {
        rte_mbuf* frame = rte_pktmbuf_alloc(pool_);
        ASSERT_NE(frame, nullptr);
        std::memcpy(rte_pktmbuf_append(frame, static_cast<std::uint16_t>(bytes.size())),
                    bytes.data(), bytes.size());
        ASSERT_EQ(rte_ring_enqueue(dir == Direction::In ? outside_in_ : inside_in_, frame), 0);
    }
    // Numbers that left inside, by flow; their buffers are freed.
    [[nodiscard]] std::map<std::uint8_t, std::vector<std::uint32_t>> take() const {
        std::map<std::uint8_t, std::vector<std::uint32_t>> left;
        void* object = nullptr;
        while (rte_ring_dequeue(inside_out_, &object) == 0) {
            auto* frame = static_cast<rte_mbuf*>(object);
            const auto* bytes = rte_pktmbuf_mtod(frame, const std::uint8_t*);
            std::uint32_t number = 0;
            std::memcpy(&number, bytes + frame->data_len - 4, 4);
            left[bytes[octet_]].push_back(number);
            rte_pktmbuf_free(frame);
        }
        return left;
    }
    [[nodiscard]] std::size_t have_left() const { return rte_ring_count(inside_out_); }
    void expect_no_buffer_lost() const {
        (void)take();
        EXPECT_EQ(rte_mempool_in_use_count(pool_), 0U) << "a buffer was lost";
    }

private:
    static constexpr unsigned kBuffers = 8191;
    static constexpr unsigned kRingSize = 4096;

    static rte_ring* ring(const std::string& name) {
        return rte_ring_create(name.c_str(), kRingSize, 0, RING_F_SP_ENQ | RING_F_SC_DEQ);
    }
    [[nodiscard]] std::uint16_t port(const std::string& name, rte_ring* in, rte_ring* out) const {
        const int port = rte_eth_from_rings(name.c_str(), &in, 1, &out, 1, 0);
        rte_eth_conf conf{};
        const auto id = static_cast<std::uint16_t>(port);
        if (port < 0 || rte_eth_dev_configure(id, 1, 1, &conf) != 0 ||
            rte_eth_rx_queue_setup(id, 0, 64, 0, nullptr, pool_) != 0 ||
            rte_eth_tx_queue_setup(id, 0, 64, 0, nullptr) != 0 || rte_eth_dev_start(id) != 0) {
            throw std::runtime_error("no port");
        }
        return id;
    }

    std::size_t octet_;
    rte_mempool* pool_ = nullptr;
    rte_ring* outside_in_ = nullptr;
    rte_ring* inside_in_ = nullptr;
    rte_ring* inside_out_ = nullptr;
    std::uint16_t outside_ = 0;
    std::uint16_t inside_ = 0;
};

// Frames come in while `workers` take turns at random; then turns go on until all have left.
// `round` is the turn of one worker.
template <typename Round>
void take_turns(const RingPair& pair, std::size_t workers, std::uint32_t frames, Round&& round) {
    std::mt19937 random{3};
    for (std::uint32_t number = 0; number < frames; ++number) {
        pair.put(static_cast<std::uint8_t>(random() % 200), number);
        if (random() % 4 == 0) {
            (void)round(random() % workers);
        }
    }
    for (std::size_t i = 0; i < 1'000; ++i) {
        (void)round(i % workers);
    }
}

// The same with a thread for each worker. All frames are there before the threads begin, and fewer
// than the rings hold: a sanitizer that watches threads does not see into the driver of the port.
template <std::size_t kWorkers, typename Round>
void run_threads(const RingPair& pair, std::uint32_t frames, Round&& round) {
    std::mt19937 random{4};
    for (std::uint32_t number = 0; number < frames; ++number) {
        pair.put(static_cast<std::uint8_t>(random() % 200), number);
    }
    std::array<std::thread, kWorkers> threads;
    Signal stop;
    for (std::size_t worker = 0; worker < kWorkers; ++worker) {
        threads[worker] = std::thread{[worker, &stop, &round] {
            while (!stop.raised()) {
                if (round(worker) == 0) {
                    std::this_thread::yield();
                }
            }
        }};
    }
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{20};
    while (pair.have_left() < frames && std::chrono::steady_clock::now() < deadline) {
        std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }
    stop.raise(true);
    for (std::thread& thread : threads) {
        thread.join();
    }
}

// Worker 2 of three stands still while more frames come than its ring holds: it loses its own
// frames only. `counted` counts the decisions of a reason.
template <typename Round, typename Counted>
void fill_a_ring(const RingPair& pair, std::size_t ring_size, Round&& round, Counted&& counted) {
    constexpr std::uint32_t kFrames = 4'000;
    for (std::uint32_t number = 0; number < kFrames; ++number) {
        pair.put(static_cast<std::uint8_t>(number % 200), number);
    }
    while (round(0) != 0 || round(1) != 0) {
    }
    const std::uint64_t lost = counted(Reason::RingFull);
    EXPECT_GT(lost, 0U);
    std::uint64_t left = 0;
    for (const auto& [headers, numbers] : pair.take()) {
        left += numbers.size();
    }
    EXPECT_EQ(left + lost + ring_size, kFrames) << "the rest waits for worker 2";
    while (round(2) != 0 || round(0) != 0) {
    }
    EXPECT_EQ(counted(Reason::WithinLimits), kFrames - lost);
    EXPECT_EQ(counted(Reason::RingFull), lost);
}

}  // namespace sluice::test
