#pragma once
#include "lib/conn/connection_ends.hpp"

#include <cstdint>

namespace sluice {

// A connection of a service whose server has agreed to another protocol (101, of CONNECT 2xx),
// which its client asked for and the service passes. `ends`: of the server's segment.
struct AgreedUpgrade {
    ConnectionEnds ends;
    std::uint64_t connection = 0;
};

}  // namespace sluice
