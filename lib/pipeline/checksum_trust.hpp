#pragma once
#include "lib/packet/packet_headers.hpp"
#include "lib/rules/service.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace sluice {

enum class SumOutcome : std::uint8_t {
    Right,
    Wrong,
    Unknown,  // not all bytes are at hand
};

// Whether a segment is believed whose checksum came out like that. A side of a pair whose frames
// come with a sender's unfinished offload (a virtual device of this host) has no checksum that is
// right: until kRightFrames were, Checksums::Auto believes all.
class ChecksumTrust {
public:
    static constexpr std::uint8_t kRightFrames = 64;

    [[nodiscard]] bool believes(Checksums how, std::uint64_t pair, Direction side,
                                SumOutcome outcome) noexcept {
        std::uint8_t& right = right_[place_of(pair, side)];
        if (outcome == SumOutcome::Right) {
            right = std::min<std::uint8_t>(right, kRightFrames - 1) + 1;
            return true;
        }
        return how == Checksums::Trust || (how == Checksums::Auto && right < kRightFrames);
    }

private:
    // Pairs that share a place are verified once either was right.
    static constexpr std::size_t kPairs = 32;
    [[nodiscard]] static std::size_t place_of(std::uint64_t pair, Direction side) noexcept {
        return (pair ^ pair >> 32) % kPairs * 2 + static_cast<std::size_t>(side);
    }

    std::array<std::uint8_t, 2 * kPairs> right_{};
};

}  // namespace sluice
