#include "lib/rules/keyed_sum.hpp"

#include <blake2.h>

namespace sluice {

KeyedSum keyed_sum(std::span<const std::uint8_t, 32> key,
                   std::span<const ByteView> parts) noexcept {
    KeyedSum sum{};
    alignas(64) blake2b_state hash;
    (void)blake2b_init_key(&hash, sizeof(sum), key.data(), key.size());
    for (const ByteView part : parts) {
        (void)blake2b_update(&hash, reinterpret_cast<const std::uint8_t*>(part.data()),
                             part.size());
    }
    (void)blake2b_final(&hash, reinterpret_cast<std::uint8_t*>(sum.data()), sizeof(sum));
    return sum;
}

}  // namespace sluice
