#include "dataplane/io/departures.hpp"

#include "dataplane/io/tx_proxy.hpp"

#include <cstddef>
#include <cstdint>

#include <rte_mbuf.h>

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

}  // namespace

// What a ring takes is counted by the worker that it leads to.
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

}  // namespace sluice
