#pragma once
#include <cstdint>

namespace sluice {

// Ways to read the streams of a table.
enum class StreamStance : std::uint8_t {
    // All that reaches a declared service is its protocol: bytes that cannot be followed are
    // refused, and stay refused.
    Service,
    // The protocol is a guess, and whatever may be a unit of it is read, also where the beginning
    // of a connection is not known. What cannot be followed is refused where a rule acts on it.
    Guess,
    // The protocol is a guess: a connection is read from its SYN on, and at the first doubt goes
    // unread for good. Nothing is refused because it could not be read.
    Anywhere,
};

}  // namespace sluice
