#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace sluice::bench {

// The 16 bytes both sides start from: a key's number, spread over all of them.
using KeyWords = std::array<std::uint64_t, 2>;

inline KeyWords key_words(std::uint64_t number) noexcept {
    return {number * 0x9E37'79B9'7F4A'7C15, number};
}

}  // namespace sluice::bench
