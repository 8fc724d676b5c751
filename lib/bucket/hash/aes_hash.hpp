#pragma once
#include "lib/base/bytes.hpp"
#include "lib/bucket/hash/siphash.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <immintrin.h>

// A keyed hash from the CPU's AES rounds: every block of 16 bytes is added to the state and goes
// through four rounds under keys that come of the secret. Two keys that differ in one block of the
// attacker's choice meet with a probability of at most 2^-113 (the bound for four rounds of AES,
// Keliher and Sui 2007), so nobody who does not know the secret can aim two keys at one place.
//
// What is marked SLUICE_AES uses instructions beyond the portable floor: it is entered only where
// works_here() is true, and is inlined only into functions that are marked too.
#define SLUICE_AES [[gnu::target("aes")]]
namespace sluice {

class AesHash {
public:
    // True if this CPU has the instructions.
    [[nodiscard]] static bool works_here() noexcept;

    // Hashes nothing: for a CPU where works_here() is false.
    AesHash() noexcept = default;
    // Needs works_here(), like the call.
    SLUICE_AES explicit AesHash(const HashSecret& secret) noexcept;

    SLUICE_AES [[nodiscard]] std::uint64_t operator()(ByteView bytes) const noexcept {
        // The length first: a short block and one that ends in zeroes differ.
        __m128i state = _mm_xor_si128(load_key(keys_[0]), words(bytes.size(), 0));
        const std::byte* at = bytes.data();
        std::size_t left = bytes.size();
        for (; left >= kBlock; left -= kBlock, at += kBlock) {
            state = four_rounds(_mm_xor_si128(state, load_halves(at)), keys_);
        }
        if (left != 0 || bytes.empty()) {
            state = four_rounds(_mm_xor_si128(state, load_rest(at, left)), keys_);
        }
        return static_cast<std::uint64_t>(_mm_cvtsi128_si64(state));
    }

    // The same, of the eight bytes of a word.
    SLUICE_AES [[nodiscard]] std::uint64_t of_word(std::uint64_t word) const noexcept {
        const __m128i state = _mm_xor_si128(load_key(keys_[0]), words(sizeof(word) ^ word, 0));
        return static_cast<std::uint64_t>(_mm_cvtsi128_si64(four_rounds(state, keys_)));
    }

    // Hashes four bytes and the sixteen of two words behind them.
    SLUICE_AES [[nodiscard]] std::uint64_t of_headed_words(std::uint32_t head, std::uint64_t low,
                                                           std::uint64_t high) const noexcept {
        const __m128i start =
            _mm_xor_si128(load_key(keys_[0]), words(sizeof(head) + 2 * sizeof(low), 0));
        const __m128i first = words(head | low << 32, low >> 32 | high << 32);
        const __m128i state = four_rounds(_mm_xor_si128(start, first), keys_);
        const __m128i rest = words(high >> 32, 0);
        return static_cast<std::uint64_t>(
            _mm_cvtsi128_si64(four_rounds(_mm_xor_si128(state, rest), keys_)));
    }

    // Hashes `size` bytes that lie in words, of which word_at(i) is the i-th; what is left of the
    // last one is zero. The same value as for these bytes side by side.
    template <typename WordAt>
    SLUICE_AES [[nodiscard]] std::uint64_t of_words_at(std::size_t size,
                                                       WordAt&& word_at) const noexcept {
        __m128i state = _mm_xor_si128(load_key(keys_[0]), words(size, 0));
        if (size == 0) [[unlikely]] {
            state = four_rounds(state, keys_);
        }
        for (std::size_t at = 0; at < size; at += kBlock) {
            const std::size_t word = at / sizeof(std::uint64_t);
            const std::uint64_t high = size - at > kBlock / 2 ? word_at(word + 1) : 0;
            state = four_rounds(_mm_xor_si128(state, words(word_at(word), high)), keys_);
        }
        return static_cast<std::uint64_t>(_mm_cvtsi128_si64(state));
    }

    // And of the sixteen bytes of two words.
    SLUICE_AES [[nodiscard]] std::uint64_t of_words(std::uint64_t low,
                                                    std::uint64_t high) const noexcept {
        const __m128i start = _mm_xor_si128(load_key(keys_[0]), words(2 * sizeof(low), 0));
        const __m128i state = four_rounds(_mm_xor_si128(start, words(low, high)), keys_);
        return static_cast<std::uint64_t>(_mm_cvtsi128_si64(state));
    }

private:
    static constexpr std::size_t kBlock = 16;

    struct alignas(16) RoundKey {
        std::array<std::uint64_t, 2> words;
    };
    using Keys = std::array<RoundKey, 5>;

    [[nodiscard]] static __m128i load_key(const RoundKey& key) noexcept {
        return _mm_load_si128(reinterpret_cast<const __m128i*>(&key));
    }
    [[nodiscard]] static __m128i words(std::uint64_t low, std::uint64_t high) noexcept {
        return _mm_set_epi64x(static_cast<long long>(high), static_cast<long long>(low));
    }
    SLUICE_AES [[nodiscard]] static __m128i four_rounds(__m128i state, const Keys& keys) noexcept {
        state = _mm_aesenc_si128(state, load_key(keys[1]));
        state = _mm_aesenc_si128(state, load_key(keys[2]));
        state = _mm_aesenc_si128(state, load_key(keys[3]));
        return _mm_aesenc_si128(state, load_key(keys[4]));
    }
    template <typename T>
    [[nodiscard]] static std::uint64_t load(const std::byte* from) noexcept {
        T value;
        std::memcpy(&value, from, sizeof(value));
        return value;
    }
    // In halves: whoever wrote the key a moment ago wrote words, and a load that spans several
    // stores waits until all of them have reached the cache.
    [[nodiscard]] static __m128i load_halves(const std::byte* from) noexcept {
        const __m128 low =
            _mm_castsi128_ps(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from)));
        return _mm_castps_si128(_mm_loadh_pi(low, reinterpret_cast<const __m64*>(from + 8)));
    }
    // Fewer than 16 bytes, zeroes behind them; without a copy of variable size.
    [[nodiscard]] static __m128i load_rest(const std::byte* from, std::size_t size) noexcept {
        std::uint64_t low = 0;
        std::uint64_t high = 0;
        if (size >= 8) {
            low = load<std::uint64_t>(from);
            // The last eight bytes, less those that are in `low` already.
            high = size == 8 ? 0 : load<std::uint64_t>(from + size - 8) >> (8 * (kBlock - size));
        } else if (size >= 4) {
            low = load<std::uint32_t>(from) | load<std::uint32_t>(from + size - 4)
                                                  << (8 * (size - 4));
        } else if (size != 0) {
            low = load<std::uint8_t>(from) |
                  load<std::uint8_t>(from + size / 2) << (8 * (size / 2)) |
                  load<std::uint8_t>(from + size - 1) << (8 * (size - 1));
        }
        return words(low, high);
    }

    Keys keys_{};
};

}  // namespace sluice
