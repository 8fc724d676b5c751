#pragma once
#include "lib/match/block_pool.hpp"
#include "lib/match/block_reference.hpp"
#include "lib/match/classifier_parts.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace sluice {

// The rows of a dimension, or of several small ones multiplied out, so that a packet has one row
// instead of several (the cross-producting of Gupta and McKeown, SIGCOMM 1999, kept to fields of
// few rows). Multiplied out, row a of the one and row b of the other are row a * (rows of the
// other) + b.
class BitPlane {
public:
    // The weight of a dimension's row in a row of the plane.
    struct Factor {
        std::uint32_t dimension = 0;
        std::uint32_t stride = 1;
    };

    // The part of a row that belongs to one word of the summary, in one piece of memory: the blocks
    // in which it may satisfy a clause, and behind them the references of those that use the plane.
    class RowWord {
    public:
        explicit RowWord(const std::uint32_t* at) noexcept : at_{at} {}

        [[nodiscard]] std::uint64_t open() const noexcept {
            std::uint64_t blocks = 0;
            std::memcpy(&blocks, at_, sizeof(blocks));
            return blocks;
        }
        // The reference of an open block using the plane; `before`: the blocks before it that do.
        [[nodiscard]] BlockReference reference(std::uint64_t before) const noexcept {
            const auto asking = static_cast<std::size_t>(std::popcount(open() & before));
            return std::bit_cast<BlockReference>(at_[kHead + asking]);
        }

    private:
        const std::uint32_t* at_;
    };

    // A plane of one dimension; rows have no bits but those of clauses.
    BitPlane(std::uint32_t dimension, const ClassifierParts& parts, BlockPool& pool);
    // The product of two, over the same clauses.
    BitPlane(const BitPlane& left, const BitPlane& right, BlockPool& pool);

    [[nodiscard]] std::size_t rows() const noexcept { return row_at_.size() / used_.size(); }
    [[nodiscard]] std::span<const Factor> factors() const noexcept { return factors_; }
    [[nodiscard]] std::size_t bytes() const noexcept {
        return (row_at_.size() + words_.size()) * sizeof(std::uint32_t);
    }

    // True if any clause of a block uses this plane.
    [[nodiscard]] bool asks(std::size_t block) const noexcept {
        return ((used_[block / 64] >> (block % 64)) & 1) != 0;
    }
    // The blocks before this one that use the plane, within its word of the summary.
    [[nodiscard]] std::uint64_t before(std::size_t block) const noexcept {
        return used_[block / 64] & ((std::uint64_t{1} << (block % 64)) - 1);
    }
    // The places of the rows of one word of the summary, for loops over many packets.
    class Reader {
    public:
        Reader(const BitPlane& plane, std::size_t word) noexcept
            : row_at_{plane.row_at_.data() + word},
              summary_{plane.used_.size()},
              words_{plane.words_.data()} {}
        [[nodiscard]] const std::uint32_t* at(std::uint32_t row) const noexcept {
            return words_ + row_at_[row * summary_];
        }

    private:
        const std::uint32_t* row_at_;
        std::size_t summary_;
        const std::uint32_t* words_;
    };
    [[nodiscard]] Reader reader(std::size_t word) const noexcept { return {*this, word}; }
    // One place may be read behind its references.
    [[nodiscard]] RowWord row(std::uint32_t row, std::size_t word) const noexcept {
        return RowWord{&words_[row_at_[row * used_.size() + word]]};
    }

private:
    static constexpr std::size_t kHead = 2;  // places of 32 bits that the open blocks take

    void begin_row(std::uint64_t open);
    void end_rows() { words_.push_back(0); }
    void add_product(const BitPlane& left, std::uint32_t left_row, const BitPlane& right,
                     std::uint32_t right_row, BlockPool& pool);

    std::vector<Factor> factors_;
    std::vector<std::uint64_t> used_;    // by word of the summary: the blocks that use it
    std::vector<std::uint32_t> row_at_;  // by row, by word of the summary: its place in words_
    std::vector<std::uint32_t> words_;
};

}  // namespace sluice
