#include "lib/bucket/hash/aes_hash.hpp"

namespace sluice {

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

}  // namespace sluice
