#include "dataplane/io/dpdk_io.hpp"

#include "dataplane/io/receive_frames.hpp"
#include "dataplane/lane_sink.hpp"

#include <algorithm>

#include <rte_mbuf.h>
#include <rte_mempool.h>
#include <rte_prefetch.h>

namespace sluice {
namespace {

void count(WorkerCounters& counters, Verdict verdict, Reason reason, std::size_t packets,
           std::uint64_t bytes) noexcept {
    counters.by_verdict[static_cast<std::size_t>(verdict)].add(packets);
    counters.bytes_by_verdict[static_cast<std::size_t>(verdict)].add(bytes);
    counters.by_reason[static_cast<std::size_t>(reason)].add(packets);
}

std::uint64_t bytes_of(std::span<rte_mbuf* const> frames) noexcept {
    std::uint64_t bytes = 0;
    for (const rte_mbuf* frame : frames) {
        bytes += frame->pkt_len;
    }
    return bytes;
}

// Sends packets whose departure has come, and counts each under what has become of it: shaped, or
// dropped since its port is down or takes no more. What a ring takes is counted by the worker that
// it leads to.
void send_departing(const TxSide& side, std::span<rte_mbuf*> frames,
                    WorkerCounters& counters) noexcept {
    const bool up = side.up.raised();
    std::size_t sent = 0;
    Reason lost = up ? Reason::TxFull : Reason::LinkDown;
    if (side.ring != nullptr) {
        for (rte_mbuf* frame : frames) {
            note_decision(*frame, Verdict::Shape, Reason::OverLimit);
        }
        sent = side.ring->put(frames.data(), static_cast<unsigned>(frames.size()));
        lost = Reason::RingFull;
    } else {
        const std::uint64_t bytes = bytes_of(frames);
        sent = send_frames(side, up, frames.data(), static_cast<std::uint16_t>(frames.size()));
        count(counters, Verdict::Shape, Reason::OverLimit, sent,
              bytes - bytes_of(frames.subspan(sent)));
        side.full.add(up ? frames.size() - sent : 0U);
    }
    if (sent != frames.size()) [[unlikely]] {
        count(counters, Verdict::Drop, lost, frames.size() - sent, bytes_of(frames.subspan(sent)));
        rte_pktmbuf_free_bulk(frames.data() + sent, static_cast<unsigned>(frames.size() - sent));
    }
}

}  // namespace

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

void DpdkIo::fill(Burst& burst, std::span<rte_mbuf* const> frames, Reach reach) noexcept {
    newest_ ^= 1U;
    if (reach == Reach::Headers) [[likely]] {
        burst.fill(lane_.dir, lane_.pair, frames,
                   [&](std::size_t row) { return view_of(frames[row], row); });
    } else {
        burst.fill(lane_.dir, lane_.pair, frames,
                   [&](std::size_t row) { return whole_view_of(frames[row], row); });
    }
}

std::size_t DpdkIo::receive(Burst& burst, Reach reach) noexcept {
    std::array<rte_mbuf*, kMaxBurst> frames;
    std::uint16_t count = 0;
    std::uint16_t came = 0;
    if (ways_.handover == nullptr) [[likely]] {
        count = receive_frames(lane_, frames.data(), kMaxBurst);
        came = count;
    } else {
        const LaneHandover::Came handed = ways_.handover->receive(frames.data());
        count = handed.ours;
        came = handed.all;
    }
    fill(burst, std::span{frames}.first(count), reach);
    return came;
}

// Takes frames of several rings, each in turn first, until the burst is full.
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
    fill(burst, std::span{frames}.first(count), reach);
    for (unsigned i = 0; i < count; ++i) {
        if (const Normalization changes = noted_changes(*frames[i]); changes.any()) [[unlikely]] {
            burst.normalize(i, changes);
        }
    }
    return count;
}

void DpdkIo::send(Burst& burst, std::span<const Action> actions, WorkerCounters& counters,
                  const SendContext<DpdkIo>& context) noexcept {
    const DelayContext delay{context.held, context.now, this};
    LaneSink sink{burst, sides_, pool_, context.held != nullptr ? &delay : nullptr};
    act_burst(burst, actions, sink, context.answering);
    sink.finish(counters);
}

void DpdkIo::depart(std::span<rte_mbuf*> frames, WorkerCounters& counters) const noexcept {
    send_departing(sides_.destination, frames, counters);
}

std::uint32_t DpdkIo::buffers() const noexcept {
    return pool_->size;
}

}  // namespace sluice
