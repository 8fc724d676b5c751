#pragma once
#include <cstdint>

namespace sluice {

// Ways to read the streams of a table.
enum class StreamStance : std::uint8_t {
    // All that reaches a declared service is its protocol: bytes that cannot be followed are
    // refused, and stay refused.
    Service,
    // The protocol is a guess: a connection is read from its SYN on, and at the first doubt goes
    // unread for good. Nothing is refused because it could not be read.
    Anywhere,
};

}  // namespace sluice
