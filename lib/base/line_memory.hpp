#pragma once
#include <cstddef>

namespace sluice {

// Zeroed memory in whole pages, for tables: huge pages reserved for this purpose if there are any,
// else transparent ones, else ordinary pages; a small request has no pages of its own and begins
// with a cache line. All of it is touched at once. Aborts if there is no
// memory.
class LineMemory {
public:
    explicit LineMemory(std::size_t bytes);
    // Borrowed memory, which outlives this: its contents stay as they are.
    LineMemory(void* data, std::size_t bytes, std::size_t page_size) noexcept
        : data_{data}, bytes_{bytes}, page_size_{page_size} {}
    ~LineMemory();
    LineMemory(LineMemory&& other) noexcept;
    // The bytes that a request takes of the process, whatever its pages, its rounding included.
    [[nodiscard]] static std::size_t taken_for(std::size_t bytes) noexcept;
    LineMemory(const LineMemory&) = delete;
    LineMemory& operator=(const LineMemory&) = delete;
    LineMemory& operator=(LineMemory&&) = delete;

    [[nodiscard]] void* data() const noexcept { return data_; }
    [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
    // The size of the requested pages; transparent huge pages count as what the kernel promises.
    [[nodiscard]] std::size_t page_size() const noexcept { return page_size_; }

private:
    void* data_ = nullptr;
    std::size_t bytes_;
    std::size_t mapped_ = 0;  // 0: from the heap, or borrowed
    bool from_heap_ = false;
    std::size_t page_size_ = 4096;
};

}  // namespace sluice
