#pragma once
#include "lib/engine/burst/burst.hpp"

// The decisions on a burst that no rule judges.
namespace sluice {

// Forwards everything as it came.
inline void pass_all(Burst& burst, Reason reason) noexcept {
    for (Packet& packet : burst.packets()) {
        packet.decision = {.verdict = Verdict::Pass, .reason = reason};
    }
}

inline void drop_all(Burst& burst, Reason reason) noexcept {
    for (Packet& packet : burst.packets()) {
        packet.decision = dropped_for(reason);
    }
}

}  // namespace sluice
