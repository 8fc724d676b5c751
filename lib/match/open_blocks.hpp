#pragma once
#include "lib/match/classifier_parts.hpp"
#include "lib/match/subject.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace sluice {

// The blocks of clauses that some packets of a burst may satisfy, and for each the rows of bits to
// AND. Listed for many packets before the first is looked at, so that what they wait for comes from
// the caches at once.
class OpenBlocks {
public:
    struct OpenBlock {
        std::uint32_t block = 0;
        std::uint32_t first = 0;  // its first row here
    };

    void clear() noexcept {
        count_ = 0;
        rows_ = 0;
    }
    // Whether another packet fits, whatever it satisfies; `asked` rows are asked by all blocks.
    [[nodiscard]] bool has_room(std::size_t asked) const noexcept {
        return count_ + kMaxBlocks <= kMost && rows_ + asked <= kMostRows;
    }
    // With so many rows. Gives room for what says where they lie in the pool.
    [[nodiscard]] const std::uint32_t** add(std::size_t block, std::size_t rows) noexcept {
        open_[count_++] = {static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(rows_)};
        const std::uint32_t** const room = &references_[rows_];
        rows_ += rows;
        return room;
    }

    // All have been added. Finds the rows in `pool` and asks for them.
    void fetch(const Block* pool) noexcept {
        const std::size_t rows = rows_;
        for (std::size_t i = 0; i < rows; ++i) {
            satisfied_[i] = pool + *references_[i];
            __builtin_prefetch(satisfied_[i]);
        }
        open_[count_].first = static_cast<std::uint32_t>(rows_);
    }

    [[nodiscard]] std::size_t count() const noexcept { return count_; }
    [[nodiscard]] std::uint32_t block(std::size_t at) const noexcept { return open_[at].block; }
    [[nodiscard]] std::span<const Block* const> rows(std::size_t at) const noexcept {
        return {&satisfied_[open_[at].first], &satisfied_[open_[at + 1].first]};
    }

private:
    static constexpr std::size_t kMost = 2 * kMaxBlocks;
    static constexpr std::size_t kMostRows = kMaxBlocks * kFieldCount + 1024;

    // Only what has been written is read.
    std::array<OpenBlock, kMost + 1> open_;
    std::array<const std::uint32_t*, kMostRows> references_;
    std::array<const Block*, kMostRows> satisfied_;
    std::size_t count_ = 0;
    std::size_t rows_ = 0;
};

}  // namespace sluice
