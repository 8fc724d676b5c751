#include "lib/match/bit_plane.hpp"

namespace sluice {
namespace {

void narrow(Block& block, const Block& by) noexcept {
    for (std::size_t word = 0; word < block.words.size(); ++word) {
        block.words[word] &= by.words[word];
    }
}

std::uint32_t packed(const Block& block, BlockPool& pool) {
    return std::bit_cast<std::uint32_t>(BlockReference{pool.add(block), block});
}

}  // namespace

BitPlane::BitPlane(std::uint32_t dimension, const ClassifierParts& parts, BlockPool& pool)
    : factors_{{dimension, 1}}, used_{parts.dimensions[dimension].used} {
    const DimensionParts& of = parts.dimensions[dimension];
    auto reference = of.references.begin();
    for (std::size_t i = 0; i < of.open.size(); ++i) {
        const std::size_t word = i % used_.size();
        begin_row(of.open[i] | ~used_[word]);
        for (std::uint64_t bits = of.open[i]; bits != 0; bits &= bits - 1) {
            const std::size_t block = word * 64 + static_cast<unsigned>(std::countr_zero(bits));
            Block satisfied = parts.blocks[*reference++];
            narrow(satisfied, clauses_of(block, parts.rule_of.size()));
            words_.push_back(packed(satisfied, pool));
        }
    }
    end_rows();
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
    end_rows();
}

void BitPlane::begin_row(std::uint64_t open) {
    row_at_.push_back(static_cast<std::uint32_t>(words_.size()));
    words_.push_back(static_cast<std::uint32_t>(open));
    words_.push_back(static_cast<std::uint32_t>(open >> 32));
}

// Adds the clauses that both satisfy; a block in which nothing is left is not open.
void BitPlane::add_product(const BitPlane& left, std::uint32_t left_row, const BitPlane& right,
                           std::uint32_t right_row, BlockPool& pool) {
    for (std::size_t word = 0; word < used_.size(); ++word) {
        const RowWord from_left = left.row(left_row, word);
        const RowWord from_right = right.row(right_row, word);
        std::uint64_t open = from_left.open() & from_right.open();
        std::vector<std::uint32_t> references;
        for (std::uint64_t bits = open & used_[word]; bits != 0; bits &= bits - 1) {
            const std::size_t block = word * 64 + static_cast<unsigned>(std::countr_zero(bits));
            Block both = kFullBlock;
            if (left.asks(block)) {
                narrow(both, pool[from_left.reference(left.before(block)).at()]);
            }
            if (right.asks(block)) {
                narrow(both, pool[from_right.reference(right.before(block)).at()]);
            }
            if (both == Block{}) {
                open &= ~(std::uint64_t{1} << (block % 64));
            } else {
                references.push_back(packed(both, pool));
            }
        }
        begin_row(open);
        words_.insert(words_.end(), references.begin(), references.end());
    }
}

}  // namespace sluice
