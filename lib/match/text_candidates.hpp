#pragma once
#include "lib/base/lazy_array.hpp"
#include "lib/match/classifier_parts.hpp"
#include "lib/packet/row_mask.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace sluice {

// Clauses that the headers satisfy and that a text decides: row by row, block by block.
class TextCandidates {
public:
    struct Candidate {
        std::uint16_t block = 0;
        std::uint8_t row = 0;
        Block clauses;
    };

    void clear() noexcept { count_ = 0; }
    void add(std::size_t block, std::size_t row, const Block& clauses) noexcept {
        candidates_[count_++] = {static_cast<std::uint16_t>(block), static_cast<std::uint8_t>(row),
                                 clauses};
    }
    [[nodiscard]] std::span<const Candidate> all() const noexcept {
        return {candidates_.get(), count_};
    }

private:
    // Room for every block of every row, of which unused pages are never touched.
    LazyArray<Candidate> candidates_ = uninitialized_array<Candidate>(kMaxBurst * kMaxBlocks);
    std::size_t count_ = 0;
};

}  // namespace sluice
