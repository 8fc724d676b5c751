#include "lib/meter/aes_hash.hpp"

#include <cstddef>
#include <cstring>

#include <immintrin.h>

// Built with the AES instructions allowed; nobody calls it where works_here() is false.
namespace sluice {
namespace {

constexpr std::size_t kBlock = 16;

using Keys = std::array<AesHash::RoundKey, 5>;

__m128i load_key(const AesHash::RoundKey& key) noexcept {
    return _mm_load_si128(reinterpret_cast<const __m128i*>(&key));
}

__m128i four_rounds(__m128i state, const Keys& keys) noexcept {
    state = _mm_aesenc_si128(state, load_key(keys[1]));
    state = _mm_aesenc_si128(state, load_key(keys[2]));
    state = _mm_aesenc_si128(state, load_key(keys[3]));
    return _mm_aesenc_si128(state, load_key(keys[4]));
}

__m128i words(std::uint64_t low, std::uint64_t high) noexcept {
    return _mm_set_epi64x(static_cast<long long>(high), static_cast<long long>(low));
}

template <typename T>
std::uint64_t load(const std::byte* from) noexcept {
    T value;
    std::memcpy(&value, from, sizeof(value));
    return value;
}

// In halves: whoever wrote the key a moment ago wrote words, and a load that spans several stores
// waits until all of them have reached the cache.
__m128i load_halves(const std::byte* from) noexcept {
    const __m128 low = _mm_castsi128_ps(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from)));
    return _mm_castps_si128(_mm_loadh_pi(low, reinterpret_cast<const __m64*>(from + 8)));
}

// Fewer than 16 bytes, zeroes behind them; without a copy of variable size.
__m128i load_rest(const std::byte* from, std::size_t size) noexcept {
    std::uint64_t low = 0;
    std::uint64_t high = 0;
    if (size >= 8) {
        low = load<std::uint64_t>(from);
        // The last eight bytes, less those that are in `low` already.
        high = size == 8 ? 0 : load<std::uint64_t>(from + size - 8) >> (8 * (kBlock - size));
    } else if (size >= 4) {
        low = load<std::uint32_t>(from) | load<std::uint32_t>(from + size - 4) << (8 * (size - 4));
    } else if (size != 0) {
        low = load<std::uint8_t>(from) | load<std::uint8_t>(from + size / 2) << (8 * (size / 2)) |
              load<std::uint8_t>(from + size - 1) << (8 * (size - 1));
    }
    return words(low, high);
}

}  // namespace

bool AesHash::works_here() noexcept {
    return __builtin_cpu_supports("aes") != 0;
}

AesHash::AesHash(const HashSecret& secret) noexcept {
    const __m128i root = words(secret[0], secret[1]);
    keys_.fill({secret});
    // Each round key is the root, numbered and put through rounds keyed by the root.
    Keys derived;
    for (std::size_t i = 0; i < derived.size(); ++i) {
        const __m128i number = words(i + 1, 0);
        const __m128i mixed = four_rounds(four_rounds(_mm_xor_si128(root, number), keys_), keys_);
        _mm_store_si128(reinterpret_cast<__m128i*>(&derived[i]), mixed);
    }
    keys_ = derived;
}

std::uint64_t AesHash::operator()(ByteView bytes) const noexcept {
    // The length first: a short block and one that ends in zeroes differ.
    __m128i state = _mm_xor_si128(load_key(keys_[0]), words(bytes.size(), 0));
    const std::byte* at = bytes.data();
    std::size_t left = bytes.size();
    for (; left >= kBlock; left -= kBlock, at += kBlock) {
        const __m128i block = load_halves(at);
        state = four_rounds(_mm_xor_si128(state, block), keys_);
    }
    if (left != 0 || bytes.empty()) {
        state = four_rounds(_mm_xor_si128(state, load_rest(at, left)), keys_);
    }
    return static_cast<std::uint64_t>(_mm_cvtsi128_si64(state));
}

}  // namespace sluice
