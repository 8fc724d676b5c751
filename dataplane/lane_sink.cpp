#include "dataplane/lane_sink.hpp"

#include "dataplane/io/dpdk_io.hpp"
#include "dataplane/io/tx_proxy.hpp"
#include "lib/engine/burst/decision_tally.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include <rte_mbuf.h>

namespace sluice {
namespace {

// Puts `bytes` back over the beginning of a frame, segment by segment.
void write_head(rte_mbuf* frame, ByteView bytes) noexcept {
    for (rte_mbuf* segment = frame; segment != nullptr && !bytes.empty(); segment = segment->next) {
        const std::size_t size = std::min<std::size_t>(bytes.size(), segment->data_len);
        std::memcpy(data_of(segment), bytes.data(), size);
        bytes = bytes.subspan(size);
    }
}

// True if nobody else holds any of the frame's buffers, so that it may be written to.
bool is_ours(const rte_mbuf* frame) noexcept {
    for (; frame != nullptr; frame = frame->next) {
        if (rte_mbuf_refcnt_read(frame) != 1 || !RTE_MBUF_DIRECT(frame)) {
            return false;
        }
    }
    return true;
}

}  // namespace

// In place where the first segment has all of the headers that the parser saw (FrameHead).
std::optional<MutableBytes> LaneSink::open_head(std::size_t row, HeaderScratch& room) noexcept {
    rte_mbuf* frame = frame_of(row);
    if (!is_ours(frame)) {
        rte_mbuf* copy = rte_pktmbuf_copy(frame, pool_, 0, UINT32_MAX);
        if (copy == nullptr) {
            return std::nullopt;
        }
        rte_pktmbuf_free(frame);
        packets_[row].buffer = copy;
        frame = copy;
    }
    if (frame->nb_segs == 1 || frame->data_len >= kHeadSize) [[likely]] {
        return MutableBytes{data_of(frame), frame->data_len};
    }
    const auto size = static_cast<std::uint32_t>(std::min<std::size_t>(kHeadSize, frame->pkt_len));
    const void* seen = rte_pktmbuf_read(frame, 0, size, room.data());
    if (seen != room.data()) {
        std::memcpy(room.data(), seen, size);
    }
    return MutableBytes{room}.first(size);
}

void LaneSink::hold(std::size_t row, Instant until) noexcept {
    if (delay_ == nullptr) {
        forward(row);
        return;
    }
    rte_mbuf* const frame = frame_of(row);
    if (!fits(sides_.destination.takes, frame)) {
        packets_[row].decision = dropped_for(Reason::TooLong);
        drop(row);
    } else if (delay_->frames->hold({frame, delay_->lane}, delay_->now, until)) {
        held_ |= row_bit(row);
    } else {
        packets_[row].decision = dropped_for(Reason::HoldFull);
        drop(row);
    }
}

void LaneSink::close_head(std::size_t row, ByteView head) noexcept {
    rte_mbuf* frame = frame_of(row);
    if (head.data() != data_of(frame)) {
        write_head(frame, head);
    }
}

// In one segment.
std::optional<MutableBytes> LaneSink::make_frame(Toward side, std::size_t size,
                                                 rte_mbuf*& frame) noexcept {
    frame = size <= sides_[side].takes.longest_now() ? rte_pktmbuf_alloc(pool_) : nullptr;
    if (frame == nullptr) {
        return std::nullopt;
    }
    if (size > rte_pktmbuf_tailroom(frame)) {
        rte_pktmbuf_free(frame);
        return std::nullopt;
    }
    (void)rte_pktmbuf_append(frame, static_cast<std::uint16_t>(size));
    return MutableBytes{data_of(frame), size};
}

void LaneSink::queue_made(Toward side, rte_mbuf* frame) noexcept {
    Made& made = made_[static_cast<std::size_t>(side)];
    if (made.count == made.frames.size()) {
        send_made(side);
    }
    made.frames[made.count++] = frame;
}

void LaneSink::send_made(Toward toward) noexcept {
    Made& made = made_[static_cast<std::size_t>(toward)];
    const TxSide& side = sides_[toward];
    const bool up = side.up.raised();
    unsigned sent = 0;
    if (side.ring != nullptr) {
        std::for_each_n(made.frames.begin(), made.count, [](rte_mbuf* one) { note_made(*one); });
        sent = side.ring->put(made.frames.data(), made.count);
    } else {
        sent = send_frames(side, up, made.frames.data(), made.count);
    }
    if (sent != made.count) [[unlikely]] {
        side.full.add(up ? made.count - sent : 0U);
        rte_pktmbuf_free_bulk(made.frames.data() + sent, made.count - sent);
    }
    made.count = 0;
}

void LaneSink::drop_unsent(unsigned sent, Reason reason) noexcept {
    unsigned number = 0;
    for_each_row(std::exchange(forwarded_, 0), [&](std::size_t row) {
        if (number++ < sent) {
            forwarded_ |= row_bit(row);
        } else {
            packets_[row].decision = dropped_for(reason);
        }
    });
    rte_pktmbuf_free_bulk(out_.data() + sent, out_count_ - sent);
}

void LaneSink::send_forwarded() noexcept {
    const TxSide& side = sides_.destination;
    const bool up = side.up.raised();
    const std::uint16_t sent = send_frames(side, up, out_.data(), out_count_);
    if (sent != out_count_) [[unlikely]] {
        side.full.add(up ? out_count_ - sent : 0U);
        drop_unsent(sent, up ? Reason::TxFull : Reason::LinkDown);
    }
}

// Hands what goes on to the worker that owns the queue, which counts it.
void LaneSink::hand_to_sender() noexcept {
    rte_mbuf* const* frame = out_.data();
    for_each_row(forwarded_, [&](std::size_t row) {
        const Decision& decision = packets_[row].decision;
        note_decision(**frame++, decision.verdict, decision.reason);
    });
    const unsigned put = sides_.destination.ring->put(out_.data(), out_count_);
    if (put != out_count_) [[unlikely]] {
        drop_unsent(put, Reason::RingFull);
    }
}

void LaneSink::count(RowMask rows, WorkerCounters& counters) const noexcept {
    DecisionTally tally;
    for (std::size_t row = 0; row < burst_.size(); ++row) {
        tally.note(row, packets_[row].decision);
    }
    tally.count(rows, burst_.frames().wire, counters);
}

void LaneSink::finish(WorkerCounters& counters) noexcept {
    if (drop_count_ != 0) {
        rte_pktmbuf_free_bulk(dropped_.data(), drop_count_);
    }
    const RowMask rows = burst_.live() & ~held_;
    if (sides_.destination.ring != nullptr) [[unlikely]] {
        hand_to_sender();
        count(rows & ~forwarded_, counters);
    } else {
        if (out_count_ != 0) {
            send_forwarded();
        }
        count(rows, counters);
    }
    for (const Toward side : {Toward::Destination, Toward::Source}) {
        if (made_[static_cast<std::size_t>(side)].count != 0) [[unlikely]] {
            send_made(side);
        }
    }
}

}  // namespace sluice
