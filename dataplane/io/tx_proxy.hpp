#pragma once
#include "dataplane/io/frame_ring.hpp"
#include "dataplane/tx_side.hpp"
#include "lib/packet/verdict.hpp"
#include "lib/share/core.hpp"

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

struct rte_mbuf;

namespace sluice {

// Counts of the frames of another worker that one sent, as that one had judged them. The sender
// writes it, so that a frame is counted once, for what became of it.
struct SentCounts {
    std::array<Counter, kVerdictCount> by_verdict;
    std::array<Counter, kVerdictCount> bytes_by_verdict;
    std::array<Counter, kReasonCount> by_reason;
};

// A frame's verdict and reason, written into its mbuf for the worker that sends it.
void note_decision(rte_mbuf& frame, Verdict verdict, Reason reason) noexcept;
// The same for a frame that the box has made: it is sent, and counted under no verdict.
void note_made(rte_mbuf& frame) noexcept;

// A transmit queue's way out for the workers that have none of their own: it sends what they have
// put into their rings.
class TxProxy {
public:
    struct Client {
        FrameRing* ring;
        SentCounts* counts;
    };
    TxProxy(const TxSide& tx, std::vector<Client> clients)
        : tx_{tx}, clients_{std::move(clients)} {}

    // One burst of each ring; how many frames there were.
    std::size_t send() noexcept;

private:
    void send(rte_mbuf** frames, std::uint16_t count, SentCounts& counts) noexcept;

    TxSide tx_;
    std::vector<Client> clients_;
};

}  // namespace sluice
