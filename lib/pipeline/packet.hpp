#pragma once
#include "lib/base/units.hpp"
#include "lib/packet/flow.hpp"
#include "lib/packet/row_mask.hpp"
#include "lib/rules/decision.hpp"

#include <cstddef>
#include <cstdint>

namespace sluice {

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

    // Asks for its headers.
    void come(const FrameView& view, void* in) noexcept {
        __builtin_prefetch(view.bytes.data());
        frame = view;
        buffer = in;
    }
};

}  // namespace sluice
