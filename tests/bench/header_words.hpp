#pragma once
#include "lib/packet/internet_checksum.hpp"

#include <cstdint>
#include <cstring>

// Fields of 16 bits in the headers of frames that go on as others.
namespace sluice::bench {

// In the machine's order.
[[nodiscard]] inline std::uint16_t word_at(const std::uint8_t* at) noexcept {
    std::uint16_t word = 0;
    std::memcpy(&word, at, sizeof(word));
    return __builtin_bswap16(word);
}

inline void put_word(std::uint8_t* at, std::uint16_t word) noexcept {
    const std::uint16_t ordered = __builtin_bswap16(word);
    std::memcpy(at, &ordered, sizeof(ordered));
}

// An internet checksum stays as right or wrong as it was when a word that it covers changes.
inline void amend(std::uint8_t* checksum, std::uint16_t before, std::uint16_t after) noexcept {
    put_word(checksum, updated_checksum(word_at(checksum), before, after));
}

}  // namespace sluice::bench
