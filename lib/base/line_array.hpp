#pragma once
#include "lib/base/line_memory.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

namespace sluice {

// An array of as many values as there are lines in a table, beside it: in the same kind of pages,
// so that a look-up at any place misses the TLB no more often than the table's own.
template <typename T>
class LineArray {
    static_assert(std::is_trivially_copyable_v<T>);

public:
    // All as T{}. Aborts if there is no memory.
    explicit LineArray(std::size_t count)
        : memory_{count * sizeof(T)}, values_{static_cast<T*>(memory_.data())}, count_{count} {
        if (!is_zeros()) {
            for (std::size_t i = 0; i < count; ++i) {
                new (&values_[i]) T{};
            }
        }
    }
    // In this memory, whose contents stay.
    LineArray(LineMemory memory, std::size_t count)
        : memory_{std::move(memory)}, values_{static_cast<T*>(memory_.data())}, count_{count} {}
    // Bytes that it takes.
    [[nodiscard]] static std::uint64_t memory_of(std::size_t count) noexcept {
        return LineMemory::taken_for(count * sizeof(T));
    }

    [[nodiscard]] T& operator[](std::size_t at) noexcept { return values_[at]; }
    [[nodiscard]] const T& operator[](std::size_t at) const noexcept { return values_[at]; }
    [[nodiscard]] std::span<T> all() noexcept { return {values_, count_}; }

private:
    // Then its memory is as it has to be already.
    [[nodiscard]] static bool is_zeros() noexcept {
        alignas(T) std::array<std::byte, sizeof(T)> one{};
        new (one.data()) T{};
        return std::all_of(one.begin(), one.end(), [](std::byte b) { return b == std::byte{}; });
    }

    LineMemory memory_;
    T* values_;
    std::size_t count_;
};

}  // namespace sluice
