#pragma once
#include "dataplane/io/frame_bounds.hpp"
#include "dataplane/io/frame_ring.hpp"
#include "lib/respond/act/sink.hpp"
#include "lib/share/core.hpp"

#include <cstdint>

#include <rte_mbuf.h>

namespace sluice {

// One way out of a lane: a transmit queue, or the ring to the worker that owns it.
struct TxSide {
    std::uint16_t port = 0;
    std::uint16_t queue = 0;
    const Signal& up;  // the port's
    Counter& full;     // of this queue or ring: the port adds them up
    FrameBounds takes;
    FrameRing* ring = nullptr;  // to the worker that owns the queue; nullptr: this one does
};

// Both ports of a lane. Frames go on to the destination's side; frames that the box makes may leave
// by either.
struct TxSides {
    TxSide destination;
    TxSide source;

    [[nodiscard]] const TxSide& operator[](Toward side) const noexcept {
        return side == Toward::Destination ? destination : source;
    }
};

// The kernel lets the one tag that it knows ride on top of the MTU (packet_extra_vlan_len_allowed).
[[nodiscard]] inline bool fits_by_its_tag(const FrameBounds& takes,
                                          const rte_mbuf* frame) noexcept {
    constexpr std::uint16_t kEtherTypeAt = 12;
    constexpr std::uint16_t kTagSize = 4;
    const auto* type = rte_pktmbuf_mtod_offset(frame, const std::uint8_t*, kEtherTypeAt);
    return frame->pkt_len <= takes.longest && frame->pkt_len <= takes.longest_now() + kTagSize &&
           frame->data_len >= kEtherTypeAt + 2 && type[0] == 0x81 && type[1] == 0x00;
}

// True if the port can send the frame, made contiguous if it must be.
[[nodiscard]] inline bool fits(const FrameBounds& takes, rte_mbuf* frame) noexcept {
    return (frame->pkt_len <= takes.longest_now() || fits_by_its_tag(takes, frame)) &&
           (frame->nb_segs == 1 || takes.in_segments || rte_pktmbuf_linearize(frame) == 0);
}

// Sends frames through the transmit queue, with a few tries; none if its port is down. How many it
// took; the first ones.
[[nodiscard]] std::uint16_t send_frames(const TxSide& side, bool up, rte_mbuf** frames,
                                        std::uint16_t count) noexcept;

}  // namespace sluice
