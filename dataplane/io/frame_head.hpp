#pragma once
#include "lib/packet/packet_headers.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include <rte_mbuf.h>

namespace sluice {

// How much of a frame that spans several mbuf segments is made contiguous for the parser.
inline constexpr std::size_t kHeadSize = 512;

[[nodiscard]] inline std::byte* data_of(rte_mbuf* segment) noexcept {
    return rte_pktmbuf_mtod(segment, std::byte*);
}

// Room for the beginning of one frame, if its first segment is too short.
class FrameHead {
public:
    // Good as long as this and the frame are.
    [[nodiscard]] FrameView view_of(rte_mbuf* frame) noexcept {
        if (frame->nb_segs == 1 || frame->data_len >= kHeadSize) [[likely]] {
            return {{rte_pktmbuf_mtod(frame, const std::byte*), frame->data_len}, frame->pkt_len};
        }
        const auto size =
            static_cast<std::uint32_t>(std::min<std::size_t>(kHeadSize, frame->pkt_len));
        const void* head = rte_pktmbuf_read(frame, 0, size, bytes_.data());
        return {{static_cast<const std::byte*>(head), size}, frame->pkt_len};
    }

private:
    // Only what has been written is read.
    std::array<std::byte, kHeadSize> bytes_;
};

}  // namespace sluice
