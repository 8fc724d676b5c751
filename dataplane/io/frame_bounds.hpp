#pragma once
#include <cstdint>

namespace sluice {

// What frames a port can send. Some drivers stop at a longer one and send nothing behind it, or
// read past the end of the first buffer of one in several.
struct FrameBounds {
    std::uint32_t longest = UINT32_MAX;  // bytes, without the checksum at the end
    bool in_segments = true;             // also those that span several buffers
};

}  // namespace sluice
