#pragma once
#include "lib/base/check.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <type_traits>

// Room for as many values as there can ever be. No constructor runs, so that the kernel gives no
// page before somebody writes to it. An array begins with a cache line of its own.
namespace sluice {

inline constexpr std::size_t kArrayAlign = 64;

// Before an array stands what the heap knows its memory by.
struct FreeArray {
    void operator()(void* array) const noexcept { std::free(static_cast<void**>(array)[-1]); }
};
template <typename T>
using LazyArray = std::unique_ptr<T[], FreeArray>;

namespace detail {

[[nodiscard]] constexpr std::size_t array_bytes(std::size_t count, std::size_t size) noexcept {
    return count * size + 2 * kArrayAlign;
}

template <typename T>
[[nodiscard]] LazyArray<T> array_in(void* memory) noexcept {
    static_assert(std::is_trivially_destructible_v<T> && alignof(T) <= kArrayAlign);
    SLUICE_CHECK(memory != nullptr);
    const auto at = reinterpret_cast<std::uintptr_t>(memory);
    void* const array = static_cast<std::byte*>(memory) + (kArrayAlign - at % kArrayAlign);
    static_cast<void**>(array)[-1] = memory;
    return LazyArray<T>{static_cast<T*>(array)};
}

}  // namespace detail

// Each value is written before it is read.
template <typename T>
[[nodiscard]] LazyArray<T> uninitialized_array(std::size_t count) noexcept {
    static_assert(std::is_trivially_copyable_v<T>);
    return detail::array_in<T>(std::malloc(detail::array_bytes(count, sizeof(T))));
}
// Of a type whose constructor would do no more than zero it.
template <typename T>
[[nodiscard]] LazyArray<T> zeroed_array(std::size_t count) noexcept {
    return detail::array_in<T>(std::calloc(detail::array_bytes(count, sizeof(T)), 1));
}

}  // namespace sluice
