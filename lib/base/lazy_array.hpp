#pragma once
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <type_traits>

// Room for as many values as there can ever be. No constructor runs, so that the kernel gives no
// page before somebody writes to it. An array begins with a cache line of its own.
namespace sluice {

inline constexpr std::size_t kArrayAlign = 64;

// Before an array stands the pointer that free() takes.
struct FreeArray {
    void operator()(void* array) const noexcept { std::free(static_cast<void**>(array)[-1]); }
};
template <typename T>
using LazyArray = std::unique_ptr<T[], FreeArray>;

namespace detail {

enum class ArrayBytes : bool { AsTheyCome, Zero };
// Without memory for it, the program ends with a message.
[[nodiscard]] void* array_memory(std::size_t count, std::size_t size, ArrayBytes bytes) noexcept;

template <typename T>
[[nodiscard]] LazyArray<T> make_array(std::size_t count, ArrayBytes bytes) noexcept {
    static_assert(std::is_trivially_destructible_v<T> && alignof(T) <= kArrayAlign);
    return LazyArray<T>{static_cast<T*>(array_memory(count, sizeof(T), bytes))};
}

}  // namespace detail

// Each value is written before it is read.
template <typename T>
[[nodiscard]] LazyArray<T> uninitialized_array(std::size_t count) noexcept {
    static_assert(std::is_trivially_copyable_v<T>);
    return detail::make_array<T>(count, detail::ArrayBytes::AsTheyCome);
}
// Elements of a type whose constructor would do no more than zero it.
template <typename T>
[[nodiscard]] LazyArray<T> zeroed_array(std::size_t count) noexcept {
    return detail::make_array<T>(count, detail::ArrayBytes::Zero);
}

}  // namespace sluice
