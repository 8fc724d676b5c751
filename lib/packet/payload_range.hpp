#pragma once
#include <cstdint>

namespace sluice {

// Bytes of a payload.
struct PayloadRange {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
};

}  // namespace sluice
