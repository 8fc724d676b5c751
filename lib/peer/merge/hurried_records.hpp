#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace sluice {

// Records that the store is to be told of at the next exchange. Those that find no place here are
// told when they are due.
class HurriedRecords {
public:
    void add(std::uint32_t record) noexcept {
        if (count_ < records_.size()) {
            records_[count_++] = record;
        }
    }
    [[nodiscard]] std::span<const std::uint32_t> all() const noexcept {
        return std::span{records_}.first(count_);
    }
    void clear() noexcept { count_ = 0; }

private:
    std::array<std::uint32_t, 256> records_{};
    std::size_t count_ = 0;
};

}  // namespace sluice
