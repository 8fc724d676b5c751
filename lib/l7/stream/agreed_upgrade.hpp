#pragma once
#include "lib/l7/stream/connection_ends.hpp"

#include <cstdint>

namespace sluice {

// A connection of a service whose server has agreed to another protocol (101, of CONNECT 2xx).
// `ends`: of the server's segment.
struct AgreedUpgrade {
    ConnectionEnds ends;
    std::uint64_t connection = 0;
    bool is_passed = false;  // its client asked for it, and the service passes that
};

}  // namespace sluice
