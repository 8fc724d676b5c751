#pragma once
#include <cstdint>

namespace sluice {

// How far a reader of a later layer goes with bytes that it cannot follow.
enum class Stance : std::uint8_t {
    // The bytes may be of any protocol: at the first doubt they go unread, and pass. Only a limit
    // or a rule's condition refuses.
    Anywhere,
    // All that comes is of the declared service's protocol: every form that a server of it may
    // accept is read, and bytes that cannot be read are refused with a reason.
    Service,
};

}  // namespace sluice
