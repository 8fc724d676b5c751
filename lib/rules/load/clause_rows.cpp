#include "lib/rules/load/clause_rows.hpp"

#include <bit>

namespace sluice {

ClauseBits all_clauses(std::size_t clauses) {
    ClauseBits bits(blocks_for(clauses));
    for (std::size_t block = 0; block < bits.size(); ++block) {
        bits[block] = clauses_of(block, clauses);
    }
    return bits;
}

void keep_common(ClauseBits& bits, const ClauseBits& other) noexcept {
    for (std::size_t block = 0; block < bits.size(); ++block) {
        for (std::size_t word = 0; word < kBlockWords; ++word) {
            bits[block].words[word] &= other[block].words[word];
        }
    }
}

void leave_out(ClauseBits& bits, const ClauseBits& other) noexcept {
    for (std::size_t block = 0; block < bits.size(); ++block) {
        for (std::size_t word = 0; word < kBlockWords; ++word) {
            bits[block].words[word] &= ~other[block].words[word];
        }
    }
}

ClauseRows::ClauseRows(const ClassifierParts& parts, const DimensionParts& dimension)
    : parts_{parts}, dimension_{dimension} {
    const std::size_t words = dimension.used.size();
    std::size_t reference = 0;
    for (std::size_t i = 0; i < dimension.open.size(); ++i) {
        if (i % words == 0) {
            first_.push_back(reference);
        }
        reference += static_cast<std::size_t>(std::popcount(dimension.open[i]));
    }
}

bool ClauseRows::is_used(std::size_t block) const noexcept {
    return ((dimension_.used[block / 64] >> (block % 64)) & 1) != 0;
}

void ClauseRows::read(std::size_t row, ClauseBits& bits) const noexcept {
    const std::size_t clauses = parts_.rule_of.size();
    const std::uint64_t* const open = &dimension_.open[row * dimension_.used.size()];
    std::size_t reference = first_[row];
    for (std::size_t block = 0; block < bits.size(); ++block) {
        bits[block] = clauses_of(block, clauses);
        if (!is_used(block)) {
            continue;
        }
        const bool holds_any = ((open[block / 64] >> (block % 64)) & 1) != 0;
        const Block satisfied =
            holds_any ? parts_.blocks[dimension_.references[reference++]] : Block{};
        for (std::size_t word = 0; word < kBlockWords; ++word) {
            bits[block].words[word] &= satisfied.words[word];
        }
    }
}

std::size_t ClauseRows::row_of(std::uint64_t value) const noexcept {
    return step_of(std::span{dimension_.steps}, value).row;
}

}  // namespace sluice
