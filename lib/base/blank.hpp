#pragma once
#include "lib/base/check.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <type_traits>

// Room for as many values as there can ever be, which are written before they are read: no
// constructor runs, so that pages that nobody writes to are never touched. It begins with a cache
// line of its own.
namespace sluice {

inline constexpr std::size_t kBlankAlign = 64;

// Before a room stands what the heap knows its memory by.
struct FreeBlank {
    void operator()(void* room) const noexcept { std::free(static_cast<void**>(room)[-1]); }
};
template <typename T>
using Blank = std::unique_ptr<T[], FreeBlank>;

namespace detail {

template <typename T>
[[nodiscard]] Blank<T> blank_in(void* memory) noexcept {
    static_assert(std::is_trivially_destructible_v<T> && std::is_trivially_copyable_v<T>);
    static_assert(alignof(T) <= kBlankAlign);
    SLUICE_CHECK(memory != nullptr);
    const auto at = reinterpret_cast<std::uintptr_t>(memory);
    void* const room = static_cast<std::byte*>(memory) + (kBlankAlign - at % kBlankAlign);
    static_cast<void**>(room)[-1] = memory;
    return Blank<T>{static_cast<T*>(room)};
}

}  // namespace detail

template <typename T>
[[nodiscard]] Blank<T> blank(std::size_t count) noexcept {
    return detail::blank_in<T>(std::malloc(count * sizeof(T) + 2 * kBlankAlign));
}
// All of it 0, the pages that the kernel has just given as they come.
template <typename T>
[[nodiscard]] Blank<T> zeroes(std::size_t count) noexcept {
    static_assert(std::is_integral_v<T> || std::is_same_v<T, std::byte>);
    return detail::blank_in<T>(std::calloc(count * sizeof(T) + 2 * kBlankAlign, 1));
}

}  // namespace sluice
