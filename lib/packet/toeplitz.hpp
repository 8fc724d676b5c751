#pragma once
#include "lib/base/bytes.hpp"
#include "lib/packet/rss.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace sluice {

// The hash of RSS: the sum, without carry, of the 32 bits of the key that begin at each bit that is
// set in the input. A table for each byte of the input, so that a byte costs one look-up; an IPv4
// address touches four of them.
class Toeplitz {
public:
    // The 32 bits behind the last bit of the longest input are still read: 40 bytes.
    static constexpr std::size_t kKeySize = RssBytes::kMaxSize + 4;

    explicit Toeplitz(std::span<const std::uint8_t, kKeySize> key) noexcept;

    // `input` is at most RssBytes::kMaxSize long.
    [[nodiscard]] std::uint32_t operator()(ByteView input) const noexcept {
        std::uint32_t hash = 0;
        for (std::size_t i = 0; i < input.size(); ++i) {
            hash ^= tables_[i][static_cast<std::size_t>(input[i])];
        }
        return hash;
    }

private:
    std::array<std::array<std::uint32_t, 256>, RssBytes::kMaxSize> tables_;
};

}  // namespace sluice
