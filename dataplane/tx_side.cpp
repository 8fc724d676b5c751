#include "dataplane/tx_side.hpp"

#include <rte_ethdev.h>

namespace sluice {
namespace {

constexpr int kSendRetries = 3;

}  // namespace

std::uint16_t send_frames(const TxSide& side, bool up, rte_mbuf** frames,
                          std::uint16_t count) noexcept {
    std::uint16_t sent = 0;
    for (int tries = 0; up && sent < count && tries <= kSendRetries; ++tries) {
        sent = static_cast<std::uint16_t>(
            sent + rte_eth_tx_burst(side.port, side.queue, frames + sent,
                                    static_cast<std::uint16_t>(count - sent)));
    }
    return sent;
}

}  // namespace sluice
