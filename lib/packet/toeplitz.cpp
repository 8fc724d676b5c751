#include "lib/packet/toeplitz.hpp"

namespace sluice {
namespace {

// The 32 bits of the key from bit `at` on.
std::uint32_t window(std::span<const std::uint8_t, Toeplitz::kKeySize> key,
                     std::size_t at) noexcept {
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < 5; ++i) {
        bits = bits << 8 | (at / 8 + i < key.size() ? key[at / 8 + i] : 0U);
    }
    return static_cast<std::uint32_t>(bits >> (8 - at % 8));
}

// The sum that a byte of the input adds, whose first bit is number `at`.
std::uint32_t sum_of(std::size_t byte, std::span<const std::uint8_t, Toeplitz::kKeySize> key,
                     std::size_t at) noexcept {
    std::uint32_t hash = 0;
    for (std::size_t bit = 0; bit < 8; ++bit) {
        if ((byte & (0x80U >> bit)) != 0) {
            hash ^= window(key, at + bit);
        }
    }
    return hash;
}

}  // namespace

Toeplitz::Toeplitz(std::span<const std::uint8_t, kKeySize> key) noexcept {
    for (std::size_t at = 0; at < tables_.size(); ++at) {
        for (std::size_t byte = 0; byte < 256; ++byte) {
            tables_[at][byte] = sum_of(byte, key, at * 8);
        }
    }
}

}  // namespace sluice
