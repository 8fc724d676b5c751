#include "dataplane/dpdk_io.hpp"

#include "dataplane/tx_desk.hpp"
#include "lib/act/tag.hpp"
#include "lib/pipeline/decision_tally.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_prefetch.h>

namespace sluice {
namespace {

constexpr int kSendRetries = 3;

std::byte* data_of(rte_mbuf* segment) noexcept {
    return rte_pktmbuf_mtod(segment, std::byte*);
}

// Puts `bytes` back over the beginning of a frame, segment by segment.
void write_head(rte_mbuf* frame, ByteView bytes) noexcept {
    for (rte_mbuf* segment = frame; segment != nullptr && !bytes.empty(); segment = segment->next) {
        const std::size_t size = std::min<std::size_t>(bytes.size(), segment->data_len);
        std::memcpy(data_of(segment), bytes.data(), size);
        bytes = bytes.subspan(size);
    }
}

rte_mbuf* frame_of(const Packet& packet) noexcept {
    return static_cast<rte_mbuf*>(packet.buffer);
}

// Whether nobody else holds any of the frame's buffers, so that it may be written to.
bool is_ours(const rte_mbuf* frame) noexcept {
    for (; frame != nullptr; frame = frame->next) {
        if (rte_mbuf_refcnt_read(frame) != 1 || !RTE_MBUF_DIRECT(frame)) {
            return false;
        }
    }
    return true;
}

}  // namespace

std::uint16_t send_frames(const Lane& lane, bool up, rte_mbuf** frames,
                          std::uint16_t count) noexcept {
    std::uint16_t sent = 0;
    for (int tries = 0; up && sent < count && tries <= kSendRetries; ++tries) {
        sent = static_cast<std::uint16_t>(
            sent + rte_eth_tx_burst(lane.tx_port, lane.tx_queue, frames + sent,
                                    static_cast<std::uint16_t>(count - sent)));
    }
    return sent;
}

FrameView DpdkIo::view_of(rte_mbuf* frame, std::size_t row) noexcept {
    return heads_[newest_][row].view_of(frame);
}

// All of it, and how much may be read behind it.
FrameView DpdkIo::whole_view_of(rte_mbuf* frame, std::size_t row) noexcept {
    if (frame->nb_segs == 1) [[likely]] {
        return {{data_of(frame), frame->data_len}, frame->pkt_len, rte_pktmbuf_tailroom(frame)};
    }
    std::byte* whole = wholes_.get() + (newest_ * kMaxBurst + row) * kWholeSize;
    const auto size = static_cast<std::uint32_t>(std::min<std::size_t>(kWholeSize, frame->pkt_len));
    const void* bytes = rte_pktmbuf_read(frame, 0, size, whole);
    const auto behind = static_cast<std::uint32_t>(bytes == whole ? kWholeSize - size : 0);
    return {{static_cast<const std::byte*>(bytes), size}, frame->pkt_len, behind};
}

void DpdkIo::fill(Burst& burst, rte_mbuf* const* frames, std::uint16_t count,
                  Reach reach) noexcept {
    newest_ ^= 1U;
    burst.begin(lane_.dir, lane_.pair);
    for (std::uint16_t row = 0; row < count; ++row) {
        rte_mbuf* frame = frames[row];
        burst.put(reach == Reach::Headers ? view_of(frame, row) : whole_view_of(frame, row), frame);
    }
}

std::size_t DpdkIo::receive(Burst& burst, Reach reach) noexcept {
    std::array<rte_mbuf*, kMaxBurst> frames;
    std::uint16_t count = 0;
    std::uint16_t came = 0;
    if (ways_.handover == nullptr) [[likely]] {
        count = rte_eth_rx_burst(lane_.rx_port, lane_.rx_queue, frames.data(), kMaxBurst);
        came = count;
    } else {
        const LaneHandover::Came handed = ways_.handover->receive(frames.data());
        count = handed.ours;
        came = handed.all;
    }
    fill(burst, frames.data(), count, reach);
    return came;
}

// Of several rings, each in turn first, until the burst is full.
std::size_t DpdkIo::receive_owned(Burst& burst, Reach reach) noexcept {
    std::array<rte_mbuf*, kMaxBurst> frames;
    unsigned count = 0;
    const std::size_t rings = ways_.owned.from.size();
    for (std::size_t asked = 0; asked < rings && count < kMaxBurst; ++asked) {
        FrameRing& ring = *ways_.owned.from[next_];
        next_ = next_ + 1 == rings ? 0 : next_ + 1;
        count += ring.take(frames.data() + count, static_cast<unsigned>(kMaxBurst) - count);
    }
    for (unsigned i = 0; i < count; ++i) {
        rte_prefetch0(frames[i]);
    }
    fill(burst, frames.data(), static_cast<std::uint16_t>(count), reach);
    return count;
}

bool DpdkIo::tag(Burst& burst, std::size_t row, const TagValues& values) noexcept {
    Packet& packet = burst.packets()[row];
    const Flow& headers = burst.headers_of(row);
    rte_mbuf* frame = frame_of(packet);
    if (!is_ours(frame)) {
        rte_mbuf* copy = rte_pktmbuf_copy(frame, pool_, 0, UINT32_MAX);
        if (copy == nullptr) {
            return false;
        }
        rte_pktmbuf_free(frame);
        packet.buffer = copy;
        frame = copy;
    }
    // What the parser saw holds all that a tag touches; it may lie in several segments.
    std::array<std::byte, kHeadSize> head;
    const auto size = static_cast<std::uint32_t>(
        std::min<std::size_t>({head.size(), burst.frame(row).bytes.size(), frame->pkt_len}));
    if (headers.outer_l3_at + std::size_t{20} > size) {
        return true;  // tags so deep that the IP header lies beyond: nothing is written
    }
    const void* seen = rte_pktmbuf_read(frame, 0, size, head.data());
    if (seen != head.data()) {
        std::memcpy(head.data(), seen, size);
    }
    tag_frame(MutableBytes{head}.first(size), headers, values.dscp, values.pcp);
    write_head(frame, ByteView{head}.first(size));
    return true;
}

bool DpdkIo::fits(rte_mbuf* frame) const noexcept {
    return frame->pkt_len <= tx_.takes.longest &&
           (frame->nb_segs == 1 || tx_.takes.in_segments || rte_pktmbuf_linearize(frame) == 0);
}

void DpdkIo::transmit(Burst& burst, std::array<std::uint16_t, kMaxBurst>& rows,
                      std::uint16_t count) noexcept {
    std::array<rte_mbuf*, kMaxBurst> out{};
    for (std::uint16_t i = 0; i < count; ++i) {
        out[i] = frame_of(burst.packets()[rows[i]]);
    }
    const bool up = tx_.up.raised();
    const std::uint16_t sent = send_frames(lane_, up, out.data(), count);
    if (sent == count) [[likely]] {
        return;
    }
    for (std::uint16_t i = sent; i < count; ++i) {
        burst.packets()[rows[i]].decision = {.verdict = Verdict::Drop,
                                             .reason = up ? Reason::TxFull : Reason::LinkDown};
    }
    tx_.full.add(up ? count - sent : 0U);
    rte_pktmbuf_free_bulk(out.data() + sent, static_cast<unsigned>(count - sent));
}

void DpdkIo::send(Burst& burst, WorkerCounters& counters) noexcept {
    std::array<rte_mbuf*, kMaxBurst> dropped{};
    std::array<std::uint16_t, kMaxBurst> forwarded{};
    unsigned drops = 0;
    std::uint16_t count = 0;
    for (RowMask left = burst.live(); left != 0; left &= left - 1) {
        const auto row = static_cast<std::uint16_t>(std::countr_zero(left));
        Packet& packet = burst.packets()[row];
        if (packet.decision.verdict == Verdict::Tag && !tag(burst, row, *packet.decision.tag)) {
            packet.decision = {.verdict = Verdict::Drop, .reason = Reason::NoMemory};
        }
        if (forwards(packet.decision.verdict) && !fits(frame_of(packet))) [[unlikely]] {
            packet.decision = {.verdict = Verdict::Drop, .reason = Reason::TooLong};
        }
        if (forwards(packet.decision.verdict)) {
            forwarded[count++] = row;
        } else {
            dropped[drops++] = frame_of(packet);
        }
    }
    if (drops != 0) {
        rte_pktmbuf_free_bulk(dropped.data(), drops);
    }
    if (ways_.back != nullptr) [[unlikely]] {
        send_back(burst, forwarded, count, counters);
        return;
    }
    if (count != 0) {
        transmit(burst, forwarded, count);
    }
    DecisionTally tally;
    std::size_t noted = 0;
    for_each_row(burst.live(), [&](std::size_t row) {
        tally.note(noted++, burst.packets()[row].decision);
    });
    tally.count(noted, counters);
}

void DpdkIo::send_back(Burst& burst, const std::array<std::uint16_t, kMaxBurst>& rows,
                       std::uint16_t count, WorkerCounters& counters) noexcept {
    DecisionTally tally;  // the sender counts what it sends
    std::size_t noted = 0;
    for_each_row(burst.live(), [&](std::size_t row) {
        const Packet& packet = burst.packets()[row];
        if (!forwards(packet.decision.verdict)) {
            tally.note(noted++, packet.decision);
        }
    });
    std::array<rte_mbuf*, kMaxBurst> out{};
    for (std::uint16_t i = 0; i < count; ++i) {
        const Packet& packet = burst.packets()[rows[i]];
        out[i] = frame_of(packet);
        note_decision(*out[i], packet.decision.verdict, packet.decision.reason);
    }
    const unsigned put = ways_.back->put(out.data(), count);
    for (unsigned i = put; i < count; ++i) {
        Packet& packet = burst.packets()[rows[i]];
        packet.decision = {.verdict = Verdict::Drop, .reason = Reason::RingFull};
        tally.note(noted++, packet.decision);
    }
    tally.count(noted, counters);
    if (put != count) [[unlikely]] {
        rte_pktmbuf_free_bulk(out.data() + put, count - put);
    }
}

}  // namespace sluice
