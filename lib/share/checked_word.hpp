#pragma once
#include "lib/share/word.hpp"

#include <cstdint>

namespace sluice {

// A number of kBits with check bits above it, in one word: one store writes both, so a process that
// is killed leaves a word that is whole, and a word with a flipped bit is known for one. Zero is 0.
template <unsigned kBits>
class CheckedWord {
public:
    [[nodiscard]] std::uint64_t value() const noexcept { return word_ & kMask; }
    [[nodiscard]] bool is_whole() const noexcept { return word_ == sealed(value()); }
    // Keeps the low kBits of `value`.
    void set(std::uint64_t value) noexcept { store_word(word_, sealed(value & kMask)); }

private:
    static_assert(kBits > 0 && kBits < 64);
    static constexpr unsigned kCheckBits = 64 - kBits;
    static constexpr std::uint64_t kMask = (std::uint64_t{1} << kBits) - 1;

    // All groups of kCheckBits, folded: each bit of the number is in exactly one bit of the check.
    [[nodiscard]] static std::uint64_t sealed(std::uint64_t value) noexcept {
        std::uint64_t check = 0;
        for (std::uint64_t rest = value; rest != 0; rest >>= kCheckBits) {
            check ^= rest;
        }
        return value | check << kBits;
    }

    std::uint64_t word_ = 0;
};

}  // namespace sluice
