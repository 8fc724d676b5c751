#pragma once
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace sluice {

// The rules that match one packet, marked in any order and more than once, taken out in order and
// each once. Empty again afterwards, so that it is cleared once in its life.
class RuleBits {
public:
    static constexpr std::size_t kSize = 16'384;

    void mark(std::uint32_t rule) noexcept {
        words_[rule / 64] |= std::uint64_t{1} << (rule % 64);
        marked_[rule / 4096] |= std::uint64_t{1} << (rule / 64 % 64);
    }

    // Calls take(rule) for each.
    template <typename Take>
    void drain(Take&& take) noexcept {
        for (std::size_t i = 0; i < marked_.size(); ++i) {
            for (; marked_[i] != 0; marked_[i] &= marked_[i] - 1) {
                const std::size_t word =
                    i * 64 + static_cast<unsigned>(std::countr_zero(marked_[i]));
                for (; words_[word] != 0; words_[word] &= words_[word] - 1) {
                    take(static_cast<std::uint32_t>(
                        word * 64 + static_cast<unsigned>(std::countr_zero(words_[word]))));
                }
            }
        }
    }

private:
    std::array<std::uint64_t, kSize / 64> words_{};
    std::array<std::uint64_t, kSize / 4096> marked_{};  // words that are not zero
};

// The rules of the largest rule set.
inline constexpr std::size_t kMaxRules = RuleBits::kSize;

}  // namespace sluice
