#pragma once
#include "tests/bench/packet_mill.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <rte_mbuf.h>

namespace sluice::bench {

// The floor: the mill alone, and six bytes swapped with six.
inline void swap_addresses(PacketMill& mill, std::size_t bursts) {
    PacketMill::Frames frames;
    for (std::size_t i = 0; i < bursts; ++i) {
        mill.receive(frames);
        for (rte_mbuf* frame : frames) {
            __builtin_prefetch(rte_pktmbuf_mtod(frame, void*));
        }
        for (rte_mbuf* frame : frames) {
            auto* at = rte_pktmbuf_mtod(frame, std::uint8_t*);
            std::uint8_t other[6];
            std::memcpy(other, at, sizeof(other));
            std::memcpy(at, at + 6, sizeof(other));
            std::memcpy(at + 6, other, sizeof(other));
        }
        mill.send(frames);
    }
}

}  // namespace sluice::bench
