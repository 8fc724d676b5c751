#pragma once
#include "lib/base/check.hpp"
#include "lib/meter/line_memory.hpp"

#include <cstddef>
#include <cstdint>
#include <type_traits>

// Memory for the states that do not fit a table's entry: lines of 64 bytes, handed out one by one
// from a free list that lies in the free lines themselves. Fixed size, one owner.
namespace sluice {

// Index of a line in its pool; 0 is none.
using LineIndex = std::uint32_t;
inline constexpr LineIndex kNoLine = 0;
inline constexpr std::size_t kLineBytes = 64;
// 24 bits in a table's entry.
inline constexpr std::size_t kMostLines = (std::size_t{1} << 24) - 1;

class LinePool {
public:
    // `lines` up to kMostLines. Pages are touched as they are handed out.
    explicit LinePool(std::size_t lines);

    // A zeroed line; kNoLine when all are taken.
    [[nodiscard]] LineIndex take() noexcept;
    void give_back(LineIndex line) noexcept;

    [[nodiscard]] std::size_t free() const noexcept { return free_; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }

    // The line's bytes as a T, which is trivially copyable and at most a line.
    template <typename T>
    [[nodiscard]] T& at(LineIndex line) noexcept {
        static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= kLineBytes);
        return *static_cast<T*>(address(line));
    }
    template <typename T>
    [[nodiscard]] const T& at(LineIndex line) const noexcept {
        static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= kLineBytes);
        return *static_cast<const T*>(address(line));
    }

private:
    [[nodiscard]] void* address(LineIndex line) const noexcept {
        SLUICE_CHECK(line != kNoLine && line <= size_);
        return static_cast<std::byte*>(memory_.data()) + line * kLineBytes;
    }

    std::size_t size_;
    std::size_t free_;
    LineIndex untouched_ = 1;  // from here on, lines were never handed out
    LineIndex returned_ = kNoLine;
    LineMemory memory_;
};

}  // namespace sluice
