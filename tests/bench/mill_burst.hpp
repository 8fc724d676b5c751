#pragma once
#include "lib/pipeline/burst.hpp"
#include "lib/pipeline/counters.hpp"
#include "tests/bench/packet_mill.hpp"

#include <cstddef>

#include <rte_mbuf.h>

// The frames of a mill as the dataplane's ports take and give them.
namespace sluice::bench {

inline void take_burst(PacketMill& mill, Burst& burst) {
    PacketMill::Frames frames;
    mill.receive(frames);
    burst.clear();
    for (rte_mbuf* frame : frames) {
        (void)burst.add(
            {{rte_pktmbuf_mtod(frame, const std::byte*), frame->data_len}, frame->pkt_len},
            Direction::In, 1, frame);
    }
}

// Every frame is counted under its verdict and reason. An empty burst gives nothing.
inline void give_burst(PacketMill& mill, const Burst& burst, WorkerCounters& counters) {
    if (burst.size() == 0) {
        return;
    }
    PacketMill::Frames frames;
    std::size_t count = 0;
    for (const Packet& packet : burst.packets()) {
        frames[count++] = static_cast<rte_mbuf*>(packet.buffer);
        counters.by_verdict[static_cast<std::size_t>(packet.decision.verdict)].add(1);
        counters.by_reason[static_cast<std::size_t>(packet.decision.reason)].add(1);
    }
    mill.send(frames);
}

}  // namespace sluice::bench
