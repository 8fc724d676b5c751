#pragma once
#include "lib/l7/stream/connection_ends.hpp"

#include <cstdint>

namespace sluice {

// A RST toward the inside that the box has sent in the name of the end that `ends` says sends.
struct MadeReset {
    ConnectionEnds ends;
    std::uint32_t seq = 0;
};

}  // namespace sluice
