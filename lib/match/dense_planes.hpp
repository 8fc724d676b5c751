#pragma once
#include "lib/match/bit_plane.hpp"
#include "lib/match/block_pool.hpp"
#include "lib/match/classifier_parts.hpp"
#include "lib/match/found_rules.hpp"
#include "lib/packet/row_mask.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sluice {

// The rows of all planes as they are ANDed, for so few clauses, two blocks at most, that a summary
// would exclude nothing. Every block of every row has memory, at an address that follows from the
// row.
class DensePlanes {
public:
    // By plane, the row of each packet.
    using Rows = std::array<std::array<std::uint32_t, kMaxBurst>, kFieldCount>;

    DensePlanes() = default;
    // Planes over so many clauses; holds nothing if they are too many, or their rows.
    DensePlanes(std::span<const BitPlane> planes, std::size_t clauses, const BlockPool& pool);

    [[nodiscard]] bool empty() const noexcept { return planes_.empty(); }
    [[nodiscard]] std::size_t bytes() const noexcept { return blocks_.size() * sizeof(Block); }

    // Adds the rules of all clauses that the packets satisfy. Not empty.
    void find(const Rows& rows, std::size_t packets, const std::uint32_t* rule_of,
              FoundRules::Adder& found) const noexcept {
        per_row_ == 1 ? find_in<1>(rows, packets, rule_of, found)
                      : find_in<2>(rows, packets, rule_of, found);
    }

private:
    static constexpr std::size_t kMostPerRow = 2;
    static constexpr std::size_t kMostBlocks = std::size_t{1} << 15;

    template <std::size_t kPerRow>
    void find_in(const Rows& rows, std::size_t packets, const std::uint32_t* rule_of,
                 FoundRules::Adder& found) const noexcept;

    std::vector<Block> blocks_;        // by plane, by row, by block
    std::vector<std::size_t> planes_;  // the first of each
    std::size_t per_row_ = 0;
};

}  // namespace sluice
