#pragma once
#include "lib/base/units.hpp"
#include "lib/packet/flow.hpp"
#include "lib/rules/decision.hpp"

#include <cstddef>
#include <cstdint>

namespace sluice {

inline constexpr std::size_t kMaxBurst = 32;
// A wait that never ends: the cost is above the burst.
inline constexpr Nanoseconds kNever = Nanoseconds::max();

// One packet's row, filled left to right by the stages: parse, match, key, meter. What a stage has
// not come to yet is an earlier packet's.
struct alignas(64) Packet {
    // One cache line, all that rx and tx know of.
    FrameView frame;
    void* buffer = nullptr;  // what the frame lies in, for who received it
    Decision decision;

    alignas(64) Flow flow;

    // Where the frame came in: the side of the pair, and port_name() of the pair.
    void come(const FrameView& view, Direction dir, std::uint64_t port, void* in) noexcept {
        frame = view;
        buffer = in;
        flow.dir = dir;
        flow.port = port;
    }
};

}  // namespace sluice
