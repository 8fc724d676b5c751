#pragma once
#include "lib/share/core.hpp"

#include <algorithm>
#include <cstdint>

namespace sluice {

// Bounds of the frames that a port can send. Some drivers stop at a longer one and send nothing
// behind it, or read past the end of the first buffer of one in several.
struct FrameBounds {
    std::uint32_t longest = UINT32_MAX;  // bytes, without the checksum at the end
    bool in_segments = true;             // also those that span several buffers
    // Bytes of a frame without a tag that the kernel sends by the MTU of the interface, which may
    // change at any time; nullptr: the kernel does not look at it.
    const Counter* untagged = nullptr;

    // The most bytes that a frame without a tag may have now.
    [[nodiscard]] std::uint64_t longest_now() const noexcept {
        return untagged == nullptr ? longest : std::min<std::uint64_t>(longest, untagged->read());
    }
};

}  // namespace sluice
