#pragma once
#include "lib/match/classifier_parts.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sluice {

// A bit for each clause of a set.
using ClauseBits = std::vector<Block>;

[[nodiscard]] ClauseBits all_clauses(std::size_t clauses);
// Keeps the clauses that both have.
void keep_common(ClauseBits& bits, const ClauseBits& other) noexcept;
void leave_out(ClauseBits& bits, const ClauseBits& other) noexcept;

// The clauses that the values of one dimension satisfy, row by row: for proofs about a whole set.
// The classifier itself has a faster form.
class ClauseRows {
public:
    // Both outlive it.
    ClauseRows(const ClassifierParts& parts, const DimensionParts& dimension);

    [[nodiscard]] std::size_t count() const noexcept { return first_.size(); }
    void read(std::size_t row, ClauseBits& bits) const noexcept;
    // The row of a number.
    [[nodiscard]] std::size_t row_of(std::uint64_t value) const noexcept;

private:
    [[nodiscard]] bool is_used(std::size_t block) const noexcept;

    const ClassifierParts& parts_;
    const DimensionParts& dimension_;
    std::vector<std::size_t> first_;  // by row: its first reference
};

}  // namespace sluice
