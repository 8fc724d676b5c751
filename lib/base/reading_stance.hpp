#pragma once
#include <cstdint>

namespace sluice {

// Ways to read the connections of a protocol, and the bytes of one.
enum class ReadingStance : std::uint8_t {
    // The protocol is a guess: a connection is read from its SYN on, and at the first doubt goes
    // unread for good. Nothing is refused because it could not be read. Of HTTP: a request is a
    // token of at most kMaxMethodSize bytes, SP or HTAB, a target in one of the four forms of
    // RFC 9112, 3.2, and a version; what shows not to be that is given up at once.
    Anywhere,
    // All that reaches a declared service is its protocol: bytes that cannot be followed are
    // refused, and stay refused. Of HTTP: a request is whatever some server serves
    // (lib/l7/http1/DESIGN.md).
    Service,
};

}  // namespace sluice
