#pragma once
#include "lib/l7/stream/track/port_checksums.hpp"
#include "lib/packet/packet_headers.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace sluice {

// Trust in checksums, of each side of each pair of ports.
class PairChecksums {
public:
    [[nodiscard]] PortChecksums& of(std::uint64_t pair, Direction side) noexcept {
        return ports_[(pair ^ pair >> 32) % kPairs * 2 + static_cast<std::size_t>(side)];
    }

private:
    static constexpr std::size_t kPairs = 32;  // pairs that share a place are verified together
    std::array<PortChecksums, 2 * kPairs> ports_;
};

}  // namespace sluice
