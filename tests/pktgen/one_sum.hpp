#pragma once
#include "lib/base/bytes.hpp"

#include <cstddef>
#include <cstdint>

namespace sluice::pktgen {

// The ones' complement sum of RFC 1071, in the order of the wire. Shares no code with
// lib/respond/answer: what the generator sends is evidence for what the box computes.
class OneSum {
public:
    constexpr OneSum() = default;

    constexpr void add(std::uint32_t word) noexcept { sum_ += word; }
    constexpr void add32(std::uint32_t value) noexcept { sum_ += (value >> 16) + (value & 0xFFFF); }
    // From an even offset of what is covered.
    void add(ByteView bytes) noexcept {
        for (std::size_t at = 0; at + 1 < bytes.size(); at += 2) {
            sum_ += load_be16(bytes, at);
        }
        if (bytes.size() % 2 != 0) {
            sum_ += std::to_integer<std::uint32_t>(bytes.back()) << 8;
        }
    }
    [[nodiscard]] constexpr std::uint16_t checksum() const noexcept {
        std::uint64_t folded = (sum_ & 0xFFFF'FFFF) + (sum_ >> 32);
        folded = (folded & 0xFFFF) + (folded >> 16);
        folded = (folded & 0xFFFF) + (folded >> 16);
        folded = (folded & 0xFFFF) + (folded >> 16);
        return static_cast<std::uint16_t>(~folded);
    }

private:
    std::uint64_t sum_ = 0;
};

}  // namespace sluice::pktgen
