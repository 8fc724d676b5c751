#include "lib/match/bit_plane.hpp"

namespace sluice {
namespace {

void narrow(Block& block, const Block& by) noexcept {
    for (std::size_t word = 0; word < block.words.size(); ++word) {
        block.words[word] &= by.words[word];
    }
}

}  // namespace

BitPlane::BitPlane(std::uint32_t dimension, const DimensionParts& parts,
                   std::span<const Block> blocks, BlockPool& pool)
    : factors_{{dimension, 1}}, used_{parts.used} {
    std::uint32_t first = 0;
    for (std::size_t i = 0; i < parts.open.size(); ++i) {
        rows_.push_back({parts.open[i] | ~used_[i % used_.size()], first});
        first += static_cast<std::uint32_t>(std::popcount(parts.open[i]));
    }
    for (const std::uint32_t reference : parts.references) {
        references_.push_back(pool.add(blocks[reference]));
    }
}

BitPlane::BitPlane(const BitPlane& left, const BitPlane& right, BlockPool& pool)
    : used_{left.used_} {
    const auto right_rows = static_cast<std::uint32_t>(right.rows());
    for (Factor factor : left.factors_) {
        factor.stride *= right_rows;
        factors_.push_back(factor);
    }
    factors_.insert(factors_.end(), right.factors_.begin(), right.factors_.end());
    for (std::size_t word = 0; word < used_.size(); ++word) {
        used_[word] |= right.used_[word];
    }
    for (std::uint32_t a = 0; a < left.rows(); ++a) {
        for (std::uint32_t b = 0; b < right_rows; ++b) {
            add_product(left, a, right, b, pool);
        }
    }
}

// What both satisfy; a block in which nothing is left is not open.
void BitPlane::add_product(const BitPlane& left, std::uint32_t left_row, const BitPlane& right,
                           std::uint32_t right_row, BlockPool& pool) {
    for (std::size_t word = 0; word < used_.size(); ++word) {
        RowWord row{left.open(left_row, word) & right.open(right_row, word),
                    static_cast<std::uint32_t>(references_.size())};
        for (std::uint64_t bits = row.open & used_[word]; bits != 0; bits &= bits - 1) {
            const std::size_t block = word * 64 + static_cast<unsigned>(std::countr_zero(bits));
            Block both;
            both.words.fill(~std::uint64_t{0});
            if (left.asks(block)) {
                narrow(both, pool[*left.reference(left_row, block)]);
            }
            if (right.asks(block)) {
                narrow(both, pool[*right.reference(right_row, block)]);
            }
            if (both == Block{}) {
                row.open &= ~(std::uint64_t{1} << (block % 64));
            } else {
                references_.push_back(pool.add(both));
            }
        }
        rows_.push_back(row);
    }
}

}  // namespace sluice
