#pragma once
#include "lib/base/line_array.hpp"
#include "lib/base/line_memory.hpp"

#include <cstddef>

namespace sluice {

// One worker's memory that outlives the process, for tables of connections: handed out from its
// beginning on, so that every process of the same sizes finds each table where it left it. Without
// any, tables have memory of their own, which ends with them.
class KeptMemory {
public:
    KeptMemory() = default;
    KeptMemory(void* data, std::size_t bytes, std::size_t page_size) noexcept
        : data_{static_cast<std::byte*>(data)}, bytes_{bytes}, page_size_{page_size} {}

    [[nodiscard]] bool is_kept() const noexcept { return data_ != nullptr; }
    // Memory of an earlier process, or zeroes, from the beginning of a pair of cache lines on, as
    // the largest lines of tables want. Aborts if no more of it is there.
    [[nodiscard]] LineMemory take(std::size_t bytes);
    // Bytes that one take() uses up.
    [[nodiscard]] static constexpr std::size_t taken_for(std::size_t bytes) noexcept {
        constexpr std::size_t kLines = 128;
        return (bytes + kLines - 1) / kLines * kLines;
    }

private:
    std::byte* data_ = nullptr;
    std::size_t bytes_ = 0;
    std::size_t page_size_ = 0;
};

// For tables that end with the process.
[[nodiscard]] KeptMemory& no_kept_memory() noexcept;

// An array in kept memory has the values that an earlier process left.
template <typename T>
[[nodiscard]] LineArray<T> array_in(KeptMemory& memory, std::size_t count) {
    return memory.is_kept() ? LineArray<T>{memory.take(count * sizeof(T)), count}
                            : LineArray<T>{count};
}

}  // namespace sluice
