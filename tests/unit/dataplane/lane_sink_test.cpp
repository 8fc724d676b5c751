#include "dataplane/lane_sink.hpp"

#include "dataplane/io/tx_proxy.hpp"
#include "lib/packet/parse_columns.hpp"
#include "lib/respond/act/act_burst.hpp"
#include "tests/packets/frame.hpp"
#include "tests/unit/dataplane/eal_once.hpp"

#include <gtest/gtest.h>

#include <rte_eth_ring.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_ring.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <vector>

// A lane between two ports whose transmit queues are rings: what leaves at either side is taken out
// of them.
namespace sluice::lane_sink_test {
namespace {

using test::Octets;
using test::udp;

constexpr unsigned kQueueSize = 128;  // holds 127 frames

struct Wires {
    rte_mempool* pool;
    rte_ring* outside_out;
    rte_ring* inside_out;
    std::uint16_t outside;
    std::uint16_t inside;
};

rte_ring* ring_of(const char* name) {
    return rte_ring_create(name, kQueueSize, 0, RING_F_SP_ENQ | RING_F_SC_DEQ);
}

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
        Wires made{};
        made.pool = rte_pktmbuf_pool_create("sink", 511, 0, 0, 1024, 0);
        made.outside_out = ring_of("soo");
        made.inside_out = ring_of("sio");
        made.outside = port_of("so", ring_of("soi"), made.outside_out, made.pool);
        made.inside = port_of("si", ring_of("sii"), made.inside_out, made.pool);
        return made;
    }();
    return kWires;
}

Octets bytes_in(const rte_mbuf* frame) {
    const auto* data = rte_pktmbuf_mtod(frame, const std::byte*);
    return {data, data + frame->data_len};
}

// What was sent, freed.
std::vector<Octets> take(rte_ring* from) {
    std::vector<Octets> frames;
    void* frame = nullptr;
    while (rte_ring_dequeue(from, &frame) == 0) {
        frames.push_back(bytes_in(static_cast<rte_mbuf*>(frame)));
        rte_pktmbuf_free(static_cast<rte_mbuf*>(frame));
    }
    return frames;
}

class LaneSinkTest : public testing::Test {
protected:
    void SetUp() override { up.raise(true); }
    void TearDown() override {
        (void)take(wires().outside_out);
        (void)take(wires().inside_out);
        EXPECT_EQ(rte_mempool_in_use_count(wires().pool), 0U) << "a buffer was lost";
    }
    [[nodiscard]] static rte_mbuf* mbuf_of(const Octets& bytes) {
        rte_mbuf* frame = rte_pktmbuf_alloc(wires().pool);
        std::memcpy(rte_pktmbuf_append(frame, static_cast<std::uint16_t>(bytes.size())),
                    bytes.data(), bytes.size());
        return frame;
    }
    // A packet from the outside that is to go on.
    void arrive(const Octets& bytes) {
        rte_mbuf* frame = mbuf_of(bytes);
        const auto size = static_cast<std::uint32_t>(bytes.size());
        (void)burst.add({{rte_pktmbuf_mtod(frame, const std::byte*), size}, size}, Direction::In, 0,
                        frame);
        parse_columns(burst.frames(), {}, burst.headers());
        burst.packets().back().decision = {.reason = Reason::WithinLimits};
    }
    // Packets with their row as source port, of which those of rows 1 and 3 are dropped.
    void send_three_of_five() {
        for (std::uint16_t row = 0; row < 5; ++row) {
            arrive(udp().sport(row).bytes());
            if (row == 1 || row == 3) {
                burst.decision(row) = dropped_for(Reason::NoRuleset);
            }
        }
        const TxSides sides{inside(), outside()};
        LaneSink sink{burst, sides, wires().pool};
        act_burst(burst, actions, sink);
        sink.finish(counters);
    }
    static bool emit(LaneSink& sink, Toward side, const Octets& made) {
        return sink.emit(0, side, made.size(), [&](MutableBytes into) {
            std::copy(made.begin(), made.end(), into.begin());
        });
    }
    [[nodiscard]] TxSide outside() {
        return {wires().outside, 0, outside_up, outside_full, outside_takes, outside_ring.get()};
    }
    [[nodiscard]] TxSide inside() {
        return {wires().inside, 0, up, inside_full, inside_takes, inside_ring.get()};
    }
    [[nodiscard]] std::uint64_t counted() const {
        std::uint64_t all = 0;
        for (const Counter& reason : counters.by_reason) {
            all += reason.read();
        }
        return all;
    }

    [[nodiscard]] std::uint64_t counted(Reason reason) const {
        return counters.by_reason[static_cast<std::size_t>(reason)].read();
    }

    Signal up;
    Signal outside_up;
    Counter outside_full;
    Counter inside_full;
    FrameBounds outside_takes;
    FrameBounds inside_takes;
    std::unique_ptr<FrameRing> outside_ring;  // none: the lane has the queue itself
    std::unique_ptr<FrameRing> inside_ring;
    WorkerCounters counters;
    Burst burst;
    const std::vector<Action> actions{kPass, kDrop};
};

TEST_F(LaneSinkTest, MadeFramesLeaveAtEitherSide) {
    outside_up.raise(true);
    const Octets packet = udp().sport(1).bytes();
    const Octets back = udp().sport(2).payload(70).bytes();
    const Octets on = udp().sport(3).payload(7).bytes();
    arrive(packet);
    const TxSides sides{inside(), outside()};
    LaneSink sink{burst, sides, wires().pool};
    EXPECT_TRUE(emit(sink, Toward::Source, back));
    EXPECT_TRUE(emit(sink, Toward::Destination, on));
    act_burst(burst, actions, sink);
    sink.finish(counters);
    EXPECT_EQ(take(wires().outside_out), std::vector<Octets>{back});
    EXPECT_EQ(take(wires().inside_out), (std::vector<Octets>{packet, on}));
    EXPECT_EQ(counted(), 1U) << "the packet alone";
}

// More of them than packets fit a burst, in the order in which they were made.
TEST_F(LaneSinkTest, ManyFramesAreMadeForOneBurst) {
    outside_up.raise(true);
    arrive(udp().bytes());
    const TxSides sides{inside(), outside()};
    LaneSink sink{burst, sides, wires().pool};
    std::vector<Octets> made;
    for (std::uint16_t i = 0; i < 100; ++i) {
        made.push_back(udp().sport(i).bytes());
        ASSERT_TRUE(emit(sink, Toward::Source, made.back()));
    }
    act_burst(burst, actions, sink);
    sink.finish(counters);
    EXPECT_EQ(take(wires().outside_out), made);
    EXPECT_EQ(take(wires().inside_out).size(), 1U);
}

// They take no packet's place in the counters, and no buffer is lost with them.
TEST_F(LaneSinkTest, MadeFramesThatCannotLeaveAreGivenUp) {
    arrive(udp().bytes());
    const TxSides sides{inside(), outside()};
    LaneSink sink{burst, sides, wires().pool};
    ASSERT_TRUE(emit(sink, Toward::Source, udp().bytes()));  // its port is down
    for (int i = 0; i < 200; ++i) {
        ASSERT_TRUE(emit(sink, Toward::Destination, udp().bytes()));  // more than the queue holds
    }
    act_burst(burst, actions, sink);
    sink.finish(counters);
    EXPECT_TRUE(take(wires().outside_out).empty());
    EXPECT_EQ(take(wires().inside_out).size(), kQueueSize - 1);
    EXPECT_EQ(outside_full.read(), 0U);
    EXPECT_EQ(counted(), 1U);
    // 200 made, of which the first 127 went out before the packet, which the queue then did not
    // take.
    EXPECT_EQ(inside_full.read(), 200U + 1 - (kQueueSize - 1));
    EXPECT_EQ(counters.by_reason[static_cast<std::size_t>(Reason::TxFull)].read(), 1U);
}

TEST_F(LaneSinkTest, AFrameThatThePortCannotSendIsNotMade) {
    outside_up.raise(true);
    outside_takes.longest = 100;
    const TxSides sides{inside(), outside()};
    LaneSink sink{burst, sides, wires().pool};
    EXPECT_TRUE(emit(sink, Toward::Source, Octets(100)));
    EXPECT_FALSE(emit(sink, Toward::Source, Octets(101)));
    EXPECT_FALSE(emit(sink, Toward::Destination, Octets(2000))) << "more than a buffer holds";
    sink.finish(counters);
    EXPECT_EQ(take(wires().outside_out), std::vector<Octets>{Octets(100)});
}

// An MTU that changes under a lane: what the kernel would throw away without a word is counted.
TEST_F(LaneSinkTest, WhatTheMtuOfTheInterfaceDoesNotLetOutIsCounted) {
    constexpr std::size_t kHeaders = 14 + 20 + 8;
    Counter untagged;
    up.raise(true);
    inside_takes = {.longest = 522, .untagged = &untagged};
    const auto goes = [&](std::size_t mtu, const Octets& frame) {
        untagged.set(14 + mtu);
        const std::uint64_t before = counted(Reason::TooLong);
        burst.clear();
        arrive(frame);
        const TxSides sides{inside(), outside()};
        LaneSink sink{burst, sides, wires().pool};
        act_burst(burst, actions, sink);
        sink.finish(counters);
        const bool went = take(wires().inside_out) == std::vector<Octets>{frame};
        EXPECT_EQ(counted(Reason::TooLong) - before, went ? 0U : 1U);
        return went;
    };
    const auto of = [](std::size_t size) { return udp().payload(size - kHeaders).bytes(); };
    const auto tagged = [](std::size_t size) {
        return udp().vlan(5).payload(size - kHeaders - 4).bytes();
    };
    EXPECT_TRUE(goes(500, of(514)));
    EXPECT_FALSE(goes(400, of(514)));
    EXPECT_FALSE(goes(400, of(415)));
    EXPECT_TRUE(goes(400, of(414)));
    EXPECT_TRUE(goes(400, tagged(418))) << "the kernel lets one tag ride on top";
    EXPECT_FALSE(goes(400, tagged(419)));
    EXPECT_TRUE(goes(900, of(522)));
    EXPECT_FALSE(goes(900, of(523))) << "what the driver takes stays as it was";
}

TEST_F(LaneSinkTest, WithoutABufferNothingIsMade) {
    outside_up.raise(true);
    std::vector<rte_mbuf*> hoard;
    while (rte_mbuf* one = rte_pktmbuf_alloc(wires().pool)) {
        hoard.push_back(one);
    }
    const TxSides sides{inside(), outside()};
    LaneSink sink{burst, sides, wires().pool};
    EXPECT_FALSE(emit(sink, Toward::Source, Octets(60)));
    sink.finish(counters);
    rte_pktmbuf_free_bulk(hoard.data(), static_cast<unsigned>(hoard.size()));
    EXPECT_TRUE(take(wires().outside_out).empty());
}

// A worker without queues hands both kinds to the one that has them, which counts the packets only.
TEST_F(LaneSinkTest, MadeFramesTakeTheRingOfTheirSide) {
    outside_up.raise(true);
    outside_ring = std::make_unique<FrameRing>();
    inside_ring = std::make_unique<FrameRing>();
    const Octets packet = udp().sport(1).bytes();
    const Octets back = udp().sport(2).bytes();
    const Octets on = udp().sport(3).bytes();
    arrive(packet);
    const TxSides sides{inside(), outside()};
    LaneSink sink{burst, sides, wires().pool};
    EXPECT_TRUE(emit(sink, Toward::Source, back));
    EXPECT_TRUE(emit(sink, Toward::Destination, on));
    act_burst(burst, actions, sink);
    sink.finish(counters);
    EXPECT_TRUE(take(wires().inside_out).empty());
    SentCounts sent;
    TxProxy inside_desk{{wires().inside, 0, up, inside_full, {}},
                        {TxProxy::Client{inside_ring.get(), &sent}}};
    TxProxy outside_desk{{wires().outside, 0, outside_up, outside_full, {}},
                         {TxProxy::Client{outside_ring.get(), &sent}}};
    EXPECT_EQ(inside_desk.send(), 2U);
    EXPECT_EQ(outside_desk.send(), 1U);
    EXPECT_EQ(take(wires().inside_out), (std::vector<Octets>{packet, on}));
    EXPECT_EQ(take(wires().outside_out), std::vector<Octets>{back});
    const auto within = static_cast<std::size_t>(Reason::WithinLimits);
    EXPECT_EQ(sent.by_reason[within].read(), 1U);
    EXPECT_EQ(sent.by_verdict[static_cast<std::size_t>(Verdict::Pass)].read(), 1U);
    EXPECT_EQ(counted(), 0U);
}

// Of five packets two are dropped, and of the other three there is room for two: the last one is
// lost, whatever lies between them.
TEST_F(LaneSinkTest, TheLastOnesAreLostWhereARingHasNoRoom) {
    inside_ring = std::make_unique<FrameRing>();
    rte_mbuf* const other = mbuf_of(udp().bytes());
    for (std::size_t i = 0; i < kFrameRingSize - 2; ++i) {
        ASSERT_EQ(inside_ring->put(&other, 1), 1U);
    }
    send_three_of_five();
    std::vector<rte_mbuf*> taken(kFrameRingSize);
    ASSERT_EQ(inside_ring->take(taken.data(), kFrameRingSize), kFrameRingSize);
    EXPECT_EQ(bytes_in(taken[kFrameRingSize - 2]), udp().sport(0).bytes());
    EXPECT_EQ(bytes_in(taken[kFrameRingSize - 1]), udp().sport(2).bytes());
    rte_pktmbuf_free_bulk(&taken[kFrameRingSize - 3], 3);
    EXPECT_EQ(burst.decision(2).reason, Reason::WithinLimits);
    EXPECT_EQ(burst.decision(4).reason, Reason::RingFull);
    EXPECT_EQ(counters.by_reason[static_cast<std::size_t>(Reason::RingFull)].read(), 1U);
    EXPECT_EQ(counters.by_reason[static_cast<std::size_t>(Reason::NoRuleset)].read(), 2U);
    EXPECT_EQ(counted(), 3U) << "what the ring took is its reader's to count";
}

// The same of a transmit queue, whose worker counts them all.
TEST_F(LaneSinkTest, TheLastOnesAreLostWhereAQueueHasNoRoom) {
    for (unsigned i = 0; i < kQueueSize - 3; ++i) {
        ASSERT_EQ(rte_ring_enqueue(wires().inside_out, mbuf_of(udp().bytes())), 0);
    }
    send_three_of_five();
    EXPECT_EQ(take(wires().inside_out).back(), udp().sport(2).bytes());
    EXPECT_EQ(burst.decision(4).reason, Reason::TxFull);
    EXPECT_EQ(counters.by_reason[static_cast<std::size_t>(Reason::TxFull)].read(), 1U);
    EXPECT_EQ(counters.by_reason[static_cast<std::size_t>(Reason::WithinLimits)].read(), 2U);
    EXPECT_EQ(counted(), 5U);
    EXPECT_EQ(inside_full.read(), 1U);
}

TEST_F(LaneSinkTest, ASenderThatCannotSendCountsThePacketsOnly) {
    inside_ring = std::make_unique<FrameRing>();
    arrive(udp().bytes());
    arrive(udp().bytes());
    const TxSides sides{inside(), outside()};
    LaneSink sink{burst, sides, wires().pool};
    EXPECT_TRUE(emit(sink, Toward::Destination, udp().bytes()));
    act_burst(burst, actions, sink);
    sink.finish(counters);
    SentCounts sent;
    TxProxy proxy{{wires().inside, 0, outside_up, inside_full, {}},  // down
                  {TxProxy::Client{inside_ring.get(), &sent}}};
    EXPECT_EQ(proxy.send(), 3U);
    EXPECT_EQ(sent.by_reason[static_cast<std::size_t>(Reason::LinkDown)].read(), 2U);
    EXPECT_EQ(sent.by_verdict[static_cast<std::size_t>(Verdict::Drop)].read(), 2U);
}

}  // namespace
}  // namespace sluice::lane_sink_test
