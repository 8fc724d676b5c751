#pragma once
#include "lib/match/classifier_parts.hpp"
#include "lib/match/fib_v4.hpp"
#include "lib/match/fib_v6.hpp"
#include "lib/match/packed_v4.hpp"
#include "lib/match/packed_v6.hpp"
#include "lib/match/range_trie.hpp"
#include "lib/packet/header_columns.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace sluice {

// How addresses are looked up among many networks. Slim: the same answers by halving, without any
// table, for processes that look up few packets or none.
enum class Lookups : std::uint8_t { Fast, Slim };

// With so many steps or more, a table costs a packet less than a trie whose nodes and steps no
// cache holds: one of a MiB and three bytes for each step, or half a MiB and five for IPv6, where
// there are few rows; of 64 MiB, where there are many; and the one for many rows of IPv6, which
// grows with its steps.
inline constexpr std::size_t kManyPackedSteps = std::size_t{1} << 13;
inline constexpr std::size_t kManySteps = std::size_t{1} << 17;
inline constexpr std::size_t kManyWideSteps = std::size_t{1} << 13;

// A look-up from the value of one field to the row of clauses that it satisfies.
class Dimension {
public:
    Dimension(const DimensionParts& parts, Lookups lookups);

    // The use of each packet's row, times the stride.
    enum class To : std::uint8_t { Set, Add };
    // The row of each of `rows` of a burst; of other rows any that there is. `parts`: those it was
    // made from.
    template <To kTo>
    void find_rows(const HeaderColumns& columns, RowMask rows, const DimensionParts& parts,
                   std::uint32_t* found) const noexcept;
    // The weight of a row: 1 by default.
    void set_stride(std::uint32_t stride);
    [[nodiscard]] std::uint32_t stride() const noexcept { return stride_; }

    // With fast look-ups, whichever it has.
    [[nodiscard]] std::size_t bytes(const DimensionParts& parts) const noexcept;

private:
    template <To kTo>
    void find_in_table(const HeaderColumns& columns, RowMask rows,
                       std::uint32_t* found) const noexcept;
    void find_number(const HeaderColumns& columns, RowMask rows, const DimensionParts& parts,
                     std::uint32_t* found) const noexcept;
    void find_address(const HeaderColumns& columns, RowMask rows, const DimensionParts& parts,
                      std::uint32_t* found) const noexcept;
    // Prefetches the first line of a key's look-up, but for the packed tables: their first levels
    // are small, and find_each() reads the slots of a burst there without one waiting for another.
    // (Always inline: GCC drops calls of functions that only prefetch.)
    [[gnu::always_inline]] void prefetch(std::uint64_t v4_key) const noexcept {
        if (fib_ != nullptr) {
            fib_->prefetch(static_cast<std::uint32_t>(v4_key));
        } else if (packed_ == nullptr) {
            trie_.prefetch(v4_key);
        }
    }
    [[gnu::always_inline]] void prefetch(Wide v6_key) const noexcept {
        if (v6_fib_ == nullptr && v6_packed_ == nullptr) {
            v6_trie_.prefetch(v6_key);
        }
    }

    Field field_;
    std::uint32_t absent_row_;
    bool is_inner_;  // an address that PacketHeaders holds
    std::uint32_t stride_ = 1;
    std::vector<std::uint16_t> table_;  // rows times the stride, by number, and when it is absent
    RangeTrie<std::uint64_t> trie_;     // numbers, or IPv4 addresses
    RangeTrie<Wide> v6_trie_;
    // In the place of a trie, when there are many steps; copies of a dimension share them.
    std::shared_ptr<const PackedV4> packed_;     // few rows
    std::shared_ptr<const PackedV6> v6_packed_;  // the same
    std::shared_ptr<const FibV4> fib_;
    std::shared_ptr<const FibV6> v6_fib_;
    bool is_slim_ = false;  // many steps, and nothing but these
};

}  // namespace sluice
