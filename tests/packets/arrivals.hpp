#pragma once
#include "lib/engine/burst/burst.hpp"
#include "lib/packet/field.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace sluice::test {

// A frame comes in, mostly from outside. `buffer` is whatever its packet is to carry.
inline void arrive(Burst& burst, const std::vector<std::byte>& frame, void* buffer = nullptr,
                   Direction dir = Direction::In, std::string_view pair = "lab") {
    (void)burst.add({frame, static_cast<std::uint32_t>(frame.size())}, dir, port_name(pair),
                    buffer);
}

// These frames, and no others.
inline void fill(Burst& burst, const std::vector<std::vector<std::byte>>& frames) {
    burst.clear();
    for (const std::vector<std::byte>& frame : frames) {
        arrive(burst, frame);
    }
}

}  // namespace sluice::test
