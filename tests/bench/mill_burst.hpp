#pragma once
#include "lib/engine/burst/burst.hpp"
#include "lib/engine/burst/counters.hpp"
#include "lib/engine/burst/decision_tally.hpp"
#include "tests/bench/packet_mill.hpp"

#include <cstddef>
#include <span>

#include <rte_mbuf.h>

// The frames of a mill as the dataplane's ports take and give them.
namespace sluice::bench {

// The port that all of the frames come in by.
inline constexpr std::uint16_t kMillPort = 1;

inline void take_burst(PacketMill& mill, Burst& burst) {
    PacketMill::Frames frames;
    const Direction direction = mill.direction();
    mill.receive(frames);
    burst.fill(direction, kMillPort, std::span<rte_mbuf* const>{frames}, [&](std::size_t row) {
        const rte_mbuf* frame = frames[row];
        return FrameView{{rte_pktmbuf_mtod(frame, const std::byte*), frame->data_len},
                         frame->pkt_len,
                         rte_pktmbuf_tailroom(frame)};
    });
}

// Every frame is counted under its verdict and reason. An empty burst gives nothing.
inline void give_burst(PacketMill& mill, const Burst& burst, WorkerCounters& counters) {
    if (burst.size() == 0) {
        return;
    }
    PacketMill::Frames frames;
    DecisionTally tally;
    std::size_t count = 0;
    for (const Packet& packet : burst.packets()) {
        tally.note(count, packet.decision);
        frames[count++] = static_cast<rte_mbuf*>(packet.buffer);
    }
    tally.count(first_rows(count), burst.frames().wire, counters);
    mill.send(frames);
}

}  // namespace sluice::bench
