#pragma once
#include "lib/base/units.hpp"
#include "lib/respond/decision.hpp"

namespace sluice {

// A wait that never ends: the cost is above the burst.
inline constexpr Nanoseconds kNever = Nanoseconds::max();

// Data that travels with a frame beside its bytes: the receiver puts in the buffer, metering the
// decision.
struct Packet {
    void* buffer = nullptr;  // what the frame lies in, for who received it
    Decision decision;
};

}  // namespace sluice
