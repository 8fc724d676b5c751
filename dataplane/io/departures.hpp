#pragma once
#include "dataplane/tx_side.hpp"
#include "lib/pipeline/counters.hpp"

#include <span>

struct rte_mbuf;

namespace sluice {

// Sends packets whose departure has come, and counts each under what has become of it: shaped, or
// dropped since its port is down or takes no more.
void send_departing(const TxSide& side, std::span<rte_mbuf*> frames,
                    WorkerCounters& counters) noexcept;

}  // namespace sluice
