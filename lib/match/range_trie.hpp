#pragma once
#include "lib/base/wide.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace sluice {

// From `first` up to the next step, or to the largest key, a key belongs to `row`.
template <typename Key>
struct Step {
    Key first{};
    std::uint32_t row = 0;

    [[nodiscard]] constexpr bool operator==(const Step&) const noexcept = default;
};

// Which row a key belongs to, for keys cut into ranges. A table over the first bits, then nodes of
// 64 children, where a bit per child says whether it is a node, and one whether a run of equal rows
// begins: two population counts find the next node or the row (Asai and Ohara, "Poptrie",
// SIGCOMM 2015). At most 1 + (width - table bits) / 6 nodes are visited.
template <typename Key>
class RangeTrie {
public:
    static constexpr unsigned kKeyBits = 8 * sizeof(Key);

    RangeTrie() = default;
    // Keys of `width` bits. The steps are sorted, no two begin alike, and the first begins at 0.
    RangeTrie(std::span<const Step<Key>> steps, unsigned width);

    void prefetch(Key key) const noexcept { __builtin_prefetch(&table_[slot_of(aligned(key))]); }

    // A key has no bit above the width.
    [[nodiscard]] std::uint32_t find(Key key) const noexcept {
        Key rest = aligned(key);
        std::uint32_t at = table_[slot_of(rest)];
        rest <<= table_bits_;
        while ((at & kIsRow) == 0) {
            const Node& node = nodes_[at];
            const auto child = static_cast<unsigned>(rest >> (kKeyBits - kNodeBits));
            const std::uint64_t up_to_child = ~std::uint64_t{0} >> (63 - child);
            if (((node.inner >> child) & 1) == 0) {
                return rows_[node.first_row + ones(node.starts & up_to_child) - 1];
            }
            at = node.first_node + ones(node.inner & up_to_child) - 1;
            rest <<= kNodeBits;
        }
        return at & ~kIsRow;
    }

    [[nodiscard]] std::size_t bytes() const noexcept {
        return table_.size() * sizeof(std::uint32_t) + nodes_.size() * sizeof(Node) +
               rows_.size() * sizeof(std::uint32_t);
    }

private:
    static constexpr unsigned kNodeBits = 6;
    static constexpr unsigned kChildren = 1U << kNodeBits;
    static constexpr std::uint32_t kIsRow = 0x8000'0000;

    struct Node {
        std::uint64_t inner = 0;   // children that are nodes
        std::uint64_t starts = 0;  // other children, where the row is not that of the one before
        std::uint32_t first_node = 0;
        std::uint32_t first_row = 0;
    };

    // Some keys in a row that share their first bits, while the trie is built.
    struct Piece {
        Key first{};
        unsigned bits = 0;     // that they share
        std::size_t step = 0;  // which holds the first key
    };

    [[nodiscard]] static std::uint32_t ones(std::uint64_t word) noexcept {
        return static_cast<std::uint32_t>(std::popcount(word));
    }
    [[nodiscard]] Key aligned(Key key) const noexcept { return key << (kKeyBits - width_); }
    [[nodiscard]] std::size_t slot_of(Key aligned_key) const noexcept {
        return static_cast<std::size_t>(aligned_key >> (kKeyBits - table_bits_));
    }

    // Part `number` of a piece that is cut into 2^bits: its first key, and the step that holds it.
    [[nodiscard]] Piece part_of(const Piece& piece, unsigned number, unsigned bits,
                                std::size_t from_step) const;
    [[nodiscard]] bool is_uniform(const Piece& piece) const;
    void fill(std::size_t node, const Piece& piece);

    [[nodiscard]] static unsigned table_bits_for(unsigned width, std::size_t steps) noexcept;

    std::vector<std::uint32_t> table_;  // a row with kIsRow, or a node
    std::vector<Node> nodes_;
    std::vector<std::uint32_t> rows_;
    unsigned width_ = 0;
    unsigned table_bits_ = 0;

    // Only while it is built.
    std::span<const Step<Key>> steps_;
    std::vector<Piece> pieces_;  // by node
};

extern template class RangeTrie<std::uint64_t>;
extern template class RangeTrie<Wide>;

}  // namespace sluice
