#pragma once
#include <atomic>
#include <cstdint>

// The functions of word.hpp, for 32 bits.
namespace sluice {

inline void store_half_word(std::uint32_t& word, std::uint32_t value) noexcept {
    std::atomic_ref<std::uint32_t>{word}.store(value, std::memory_order_release);
}

[[nodiscard]] inline std::uint32_t load_half_word(const std::uint32_t& word) noexcept {
    // std::atomic_ref<const T> comes with C++26; loading writes nothing.
    return std::atomic_ref<std::uint32_t>{const_cast<std::uint32_t&>(word)}.load(
        std::memory_order_acquire);
}
static_assert(std::atomic_ref<std::uint32_t>::is_always_lock_free);

}  // namespace sluice
