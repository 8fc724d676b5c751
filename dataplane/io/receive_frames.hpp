#pragma once
#include "dataplane/io/lane.hpp"

#include <rte_ethdev.h>

namespace sluice {

// Frames that have come to the lane's queue; none while its port is away and may be taken down.
[[nodiscard]] inline std::uint16_t receive_frames(const Lane& lane, rte_mbuf** frames,
                                                  std::uint16_t most) noexcept {
    if (lane.there != nullptr && !lane.there->raised()) [[unlikely]] {
        return 0;
    }
    return rte_eth_rx_burst(lane.rx_port, lane.rx_queue, frames, most);
}

}  // namespace sluice
