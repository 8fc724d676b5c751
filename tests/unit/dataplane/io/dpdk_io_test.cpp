#include "dataplane/io/dpdk_io.hpp"

#include "lib/match/padded_text.hpp"
#include "lib/packet/parse.hpp"
#include "lib/packet/parse_columns.hpp"
#include "lib/respond/act/tag.hpp"
#include "tests/packets/frame.hpp"
#include "tests/unit/dataplane/eal_once.hpp"

#include <gtest/gtest.h>

#include <rte_eth_ring.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_ring.h>

#include <array>
#include <chrono>
#include <cstring>
#include <span>

// Real mbufs through a port made of two rings: what is put into one comes in, what is sent is taken
// out of the other.
namespace sluice::dpdk_io_test {
namespace {

using namespace std::chrono_literals;
using test::Octets;
using test::tcp;
using test::udp;

constexpr unsigned kPoolSize = 511;
constexpr unsigned kTxRing = 16;  // holds 15 frames: small enough to be full

struct Wire {
    rte_mempool* pool = nullptr;
    rte_ring* in = nullptr;
    rte_ring* out = nullptr;
    std::uint16_t port = 0;
};

const Wire& wire() {
    static const Wire kWire = [] {
        test::start_eal_once();
        Wire made;
        made.pool = rte_pktmbuf_pool_create("io", kPoolSize, 0, 0, 1024, 0);
        made.in = rte_ring_create("in", 256, 0, RING_F_SP_ENQ | RING_F_SC_DEQ);
        made.out = rte_ring_create("out", kTxRing, 0, RING_F_SP_ENQ | RING_F_SC_DEQ);
        const int port = rte_eth_from_rings("io", &made.in, 1, &made.out, 1, 0);
        made.port = static_cast<std::uint16_t>(port);
        rte_eth_conf conf{};
        if (port < 0 || rte_eth_dev_configure(made.port, 1, 1, &conf) != 0 ||
            rte_eth_rx_queue_setup(made.port, 0, 64, 0, nullptr, made.pool) != 0 ||
            rte_eth_tx_queue_setup(made.port, 0, 64, 0, nullptr) != 0 ||
            rte_eth_dev_start(made.port) != 0) {
            throw std::runtime_error("no port");
        }
        return made;
    }();
    return kWire;
}

// A frame in segments of `piece` bytes each.
rte_mbuf* mbuf_of(const Octets& bytes, std::size_t piece) {
    rte_mbuf* head = nullptr;
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
        rte_mbuf* segment = rte_pktmbuf_alloc(wire().pool);
        const auto size = static_cast<std::uint16_t>(std::min(piece, bytes.size() - at));
        std::memcpy(rte_pktmbuf_append(segment, size), bytes.data() + at, size);
        if (head == nullptr) {
            head = segment;
        } else {
            EXPECT_EQ(rte_pktmbuf_chain(head, segment), 0);
        }
    }
    return head;
}

Octets bytes_in(const rte_mbuf* frame) {
    Octets bytes;
    for (; frame != nullptr; frame = frame->next) {
        const auto* data = rte_pktmbuf_mtod(frame, const std::byte*);
        bytes.insert(bytes.end(), data, data + frame->data_len);
    }
    return bytes;
}

class DpdkIoTest : public testing::Test {
protected:
    void SetUp() override {
        lane.rx_port = lane.tx_port = wire().port;
        up.raise(true);
        actions.push_back({.verdict = Verdict::Tag, .tag = {.dscp = 46, .pcp = 5}});
    }
    void TearDown() override {
        (void)take();
        EXPECT_EQ(rte_mempool_in_use_count(wire().pool), 0U) << "a buffer was lost";
    }
    void put(rte_mbuf* frame) { ASSERT_EQ(rte_ring_enqueue(wire().in, frame), 0); }
    // What was sent, freed.
    std::vector<Octets> take() {
        std::vector<Octets> frames;
        void* frame = nullptr;
        while (rte_ring_dequeue(wire().out, &frame) == 0) {
            frames.push_back(bytes_in(static_cast<rte_mbuf*>(frame)));
            rte_pktmbuf_free(static_cast<rte_mbuf*>(frame));
        }
        return frames;
    }
    void decide_all(Verdict verdict) {
        parse_columns(burst.frames(), {}, burst.headers());
        for (Packet& packet : burst.packets()) {
            packet.decision = {
                .verdict = verdict, .reason = Reason::OverLimit, .action = 2, .rule = 0};
        }
    }
    // How many departed.
    std::size_t depart(Instant now) {
        std::array<HeldFrame<DpdkIo>, kMaxBurst> due;
        const std::size_t count = held.take_due(now, due);
        std::array<rte_mbuf*, kMaxBurst> frames;
        for (std::size_t i = 0; i < count; ++i) {
            EXPECT_EQ(due[i].lane, &io);
            frames[i] = due[i].frame;
        }
        io.depart(std::span{frames}.first(count), counters);
        return count;
    }
    std::uint64_t counted(Verdict verdict) {
        return counters.by_verdict[static_cast<std::size_t>(verdict)].read();
    }
    std::uint64_t counted(Reason reason) {
        return counters.by_reason[static_cast<std::size_t>(reason)].read();
    }

    Lane lane;
    Signal up;
    Counter tx_full;
    WorkerCounters counters;
    HeldFrames<DpdkIo> held{8};
    std::vector<Action> actions{kPass, kDrop};
    Burst burst;
    [[nodiscard]] TxSides sides(FrameBounds takes = {}) {
        const TxSide side{wire().port, 0, up, tx_full, takes};
        return {side, side};
    }
    DpdkIo io{lane, sides(), wire().pool};
};

// However the frame lies in its segments, the parser sees what it would see in one piece.
TEST_F(DpdkIoTest, SegmentsDoNotChangeWhatIsSeen) {
    const Octets frame = tcp().vlan(5).options(Octets(12)).payload(700).bytes();
    PacketHeaders whole;
    parse_frame({frame, static_cast<std::uint32_t>(frame.size())}, {}, whole);
    for (const std::size_t piece : {7UL, 14UL, 15UL, 33UL, 60UL, 100UL, 511UL, 512UL, 2000UL}) {
        put(mbuf_of(frame, std::min(piece, std::size_t{800})));
        ASSERT_EQ(io.receive(burst), 1U);
        Packet& packet = burst.packets()[0];
        EXPECT_EQ(burst.frame(0).wire_size, frame.size());
        parse_columns(burst.frames(), {}, burst.headers());
        const PacketHeaders& seen = burst.headers_of(0);
        EXPECT_EQ(seen.parsed, whole.parsed) << piece;
        EXPECT_EQ(seen.dport, whole.dport);
        EXPECT_EQ(seen.payload_len, 700U);
        EXPECT_EQ(seen.byte_units, whole.byte_units);
        packet.decision = {};
        io.send(burst, actions, counters);
        EXPECT_EQ(take(), std::vector<Octets>{frame}) << piece;
    }
}

TEST_F(DpdkIoTest, TagsAreWrittenAcrossSegments) {
    const Octets frame = udp().vlan(5).payload(600).bytes();
    PacketHeaders headers;
    parse_frame({frame, static_cast<std::uint32_t>(frame.size())}, {}, headers);
    Octets want = frame;
    tag_frame(want, headers, 46, 5);
    for (const std::size_t piece : {7UL, 14UL, 15UL, 19UL, 29UL, 100UL, 800UL}) {
        put(mbuf_of(frame, piece));
        ASSERT_EQ(io.receive(burst), 1U);
        decide_all(Verdict::Tag);
        io.send(burst, actions, counters);
        EXPECT_EQ(take(), std::vector<Octets>{want}) << piece;
    }
    EXPECT_EQ(counted(Verdict::Tag), 7U);
}

TEST_F(DpdkIoTest, AFrameThatOthersHoldIsCopiedBeforeItIsTagged) {
    const Octets frame = udp().payload(100).bytes();
    rte_mbuf* shared = mbuf_of(frame, 800);
    rte_mbuf_refcnt_update(shared, 1);
    put(shared);
    ASSERT_EQ(io.receive(burst), 1U);
    decide_all(Verdict::Tag);
    io.send(burst, actions, counters);
    EXPECT_EQ(bytes_in(shared), frame);
    EXPECT_NE(take(), std::vector<Octets>{frame});
    rte_pktmbuf_free(shared);
}

TEST_F(DpdkIoTest, WithoutABufferToTagInTheFrameIsDroppedAndCounted) {
    rte_mbuf* shared = mbuf_of(udp().payload(100).bytes(), 800);
    rte_mbuf_refcnt_update(shared, 1);
    put(shared);
    ASSERT_EQ(io.receive(burst), 1U);
    std::vector<rte_mbuf*> hoard;
    while (rte_mbuf* one = rte_pktmbuf_alloc(wire().pool)) {
        hoard.push_back(one);
    }
    decide_all(Verdict::Tag);
    io.send(burst, actions, counters);
    EXPECT_EQ(counted(Reason::NoMemory), 1U);
    EXPECT_EQ(counted(Verdict::Drop), 1U);
    EXPECT_EQ(counted(Verdict::Tag), 0U);
    rte_pktmbuf_free_bulk(hoard.data(), static_cast<unsigned>(hoard.size()));
    rte_pktmbuf_free(shared);
}

TEST_F(DpdkIoTest, WhatTheQueueDoesNotTakeIsDroppedUnderItsOwnReason) {
    for (int i = 0; i < 32; ++i) {
        put(mbuf_of(udp().sport(static_cast<std::uint16_t>(i)).bytes(), 800));
    }
    ASSERT_EQ(io.receive(burst), 32U);
    decide_all(Verdict::Pass);
    burst.packets()[3].decision.verdict = Verdict::Drop;
    io.send(burst, actions, counters);
    EXPECT_EQ(take().size(), kTxRing - 1);
    EXPECT_EQ(counted(Verdict::Pass), kTxRing - 1);
    EXPECT_EQ(counted(Verdict::Drop), 32U - (kTxRing - 1));
    EXPECT_EQ(counted(Reason::TxFull), 31U - (kTxRing - 1));
    EXPECT_EQ(tx_full.read(), 31U - (kTxRing - 1));
}

TEST_F(DpdkIoTest, NothingIsSentToAPortThatIsDown) {
    up.raise(false);
    put(mbuf_of(udp().bytes(), 800));
    ASSERT_EQ(io.receive(burst), 1U);
    decide_all(Verdict::Pass);
    io.send(burst, actions, counters);
    EXPECT_TRUE(take().empty());
    EXPECT_EQ(counted(Reason::LinkDown), 1U);
    EXPECT_EQ(tx_full.read(), 0U);
}

// Held frames are counted when they depart, in the order of their departures.
TEST_F(DpdkIoTest, DelayedFramesDepartLaterAndAreCountedThen) {
    const std::vector<Octets> frames{udp().sport(1).bytes(), udp().sport(2).bytes(),
                                     udp().sport(3).bytes()};
    for (const Octets& frame : frames) {
        put(mbuf_of(frame, 800));
    }
    ASSERT_EQ(io.receive(burst), 3U);
    decide_all(Verdict::Shape);
    burst.packets()[0].decision.wait = 2s;
    burst.packets()[1].decision = {};
    burst.packets()[2].decision.wait = 1s;
    constexpr Instant kNow{1h};
    io.send(burst, actions, counters, {&held, kNow});
    EXPECT_EQ(take(), std::vector<Octets>{frames[1]});
    EXPECT_EQ(counted(Verdict::Pass), 1U);
    EXPECT_EQ(counted(Verdict::Shape), 0U);
    EXPECT_EQ(held.now_held(), 2U);
    EXPECT_EQ(depart(kNow + 1s - 1ns), 0U);
    EXPECT_EQ(depart(kNow + 1s + 1ms), 1U);
    EXPECT_EQ(take(), std::vector<Octets>{frames[2]});
    EXPECT_EQ(depart(kNow + 1h), 1U);
    EXPECT_EQ(take(), std::vector<Octets>{frames[0]});
    EXPECT_EQ(counted(Verdict::Shape), 2U);
    EXPECT_EQ(counted(Reason::OverLimit), 2U);
    EXPECT_EQ(held.now_held(), 0U);
}

TEST_F(DpdkIoTest, DelayedFramesWhosePortGoesDownAreCounted) {
    put(mbuf_of(udp().bytes(), 800));
    ASSERT_EQ(io.receive(burst), 1U);
    decide_all(Verdict::Shape);
    io.send(burst, actions, counters, {&held, Instant{1h}});
    up.raise(false);
    EXPECT_EQ(depart(Instant{2h}), 1U);
    EXPECT_TRUE(take().empty());
    EXPECT_EQ(counted(Reason::LinkDown), 1U);
    EXPECT_EQ(counted(Verdict::Drop), 1U);
    EXPECT_EQ(counted(Verdict::Shape), 0U);
}

// A frame counts for as many buffers as it has.
TEST_F(DpdkIoTest, NoMoreBuffersAreHeldThanTheirShare) {
    HeldFrames<DpdkIo> few{2};
    put(mbuf_of(udp().payload(500).bytes(), 300));
    ASSERT_EQ(io.receive(burst), 1U);
    decide_all(Verdict::Shape);
    io.send(burst, actions, counters, {&few, Instant{1h}});
    EXPECT_EQ(few.size(), 1U);
    EXPECT_EQ(few.room(), 0U);
    for (int i = 0; i < 2; ++i) {
        put(mbuf_of(udp().bytes(), 800));
    }
    ASSERT_EQ(io.receive(burst), 2U);
    decide_all(Verdict::Shape);
    io.send(burst, actions, counters, {&few, Instant{1h}});
    EXPECT_EQ(counted(Reason::HoldFull), 1U) << "the wheel itself has no more places";
    std::array<HeldFrame<DpdkIo>, 4> frames;
    const std::size_t count = few.take_any(frames);
    ASSERT_EQ(count, 2U);
    EXPECT_EQ(few.room(), 2U);
    for (std::size_t i = 0; i < count; ++i) {
        rte_pktmbuf_free(frames[i].frame);
    }
}

// A driver that stops at a frame it cannot send would hold up those behind it.
TEST_F(DpdkIoTest, FramesThatThePortCannotSendHoldUpNoOther) {
    DpdkIo narrow{lane, sides({.longest = 1522, .in_segments = true}), wire().pool};
    const Octets small = udp().bytes();
    const Octets longest = udp().payload(1522 - 42).bytes();
    const Octets too_long = udp().payload(1523 - 42).bytes();
    for (const Octets* frame : {&too_long, &small, &longest}) {
        put(mbuf_of(*frame, 800));
    }
    ASSERT_EQ(narrow.receive(burst), 3U);
    decide_all(Verdict::Pass);
    narrow.send(burst, actions, counters);
    EXPECT_EQ(take(), (std::vector<Octets>{small, longest}));
    EXPECT_EQ(counted(Reason::TooLong), 1U);
    EXPECT_EQ(counted(Verdict::Drop), 1U);
    EXPECT_EQ(tx_full.read(), 0U);
}

// In one buffer or not at all, where the driver reads only the first.
TEST_F(DpdkIoTest, FramesAreMadeContiguousForPortsThatWantIt) {
    DpdkIo plain{lane, sides({.longest = 3560, .in_segments = false}), wire().pool};
    const Octets fits = udp().payload(500).bytes();
    put(mbuf_of(fits, 300));
    put(mbuf_of(udp().payload(1200).bytes(), 700));  // more than one buffer of 1024 bytes holds
    ASSERT_EQ(plain.receive(burst), 2U);
    decide_all(Verdict::Pass);
    plain.send(burst, actions, counters);
    void* sent = nullptr;
    ASSERT_EQ(rte_ring_dequeue(wire().out, &sent), 0);
    EXPECT_EQ(static_cast<rte_mbuf*>(sent)->nb_segs, 1U);
    EXPECT_EQ(bytes_in(static_cast<rte_mbuf*>(sent)), fits);
    rte_pktmbuf_free(static_cast<rte_mbuf*>(sent));
    EXPECT_EQ(counted(Reason::TooLong), 1U);
}

// Where rules ask for texts a frame is seen whole, and what may be read behind it is known.
TEST_F(DpdkIoTest, SeesWholeFramesWhereTextsAreAsked) {
    constexpr std::size_t kPieces[] = {64, 300, 5000};
    for (const std::size_t piece : kPieces) {
        Octets payload(piece == 5000 ? 600 : 3000);
        for (std::size_t i = 0; i < payload.size(); ++i) {
            payload[i] = static_cast<std::byte>(i * 7);
        }
        const Octets frame = udp().src("10.0.0.1").carries(payload).bytes();
        put(mbuf_of(frame, piece));
        ASSERT_EQ(io.receive(burst, Reach::Everything), 1U);
        const FrameView seen = burst.frame(0);
        EXPECT_TRUE(std::equal(seen.bytes.begin(), seen.bytes.end(), frame.begin(), frame.end()));
        EXPECT_EQ(seen.wire_size, frame.size());
        EXPECT_GE(seen.readable_behind, kTextPadding);
        decide_all(Verdict::Pass);
        io.send(burst, actions, counters);
        EXPECT_EQ(take(), std::vector<Octets>{frame});
    }
}

}  // namespace
}  // namespace sluice::dpdk_io_test
