#pragma once
#include "lib/base/prefetch.hpp"
#include "lib/base/wide.hpp"
#include "lib/match/step.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sluice {

// A look-up of the row that a key belongs to, for keys cut into ranges.
//
//   table, by the first bits --> nodes of 64 children --> a row, or a run of a few steps
//
// The table spans the keys between the first step and the last, so that rules over one network, or
// over short payloads, are separated by it alone. A bit per child of a node marks nodes, and one
// marks leaves unlike the one before: two population counts find the next (Asai and Ohara,
// "Poptrie", SIGCOMM 2015). Where no more than eight steps are left, they are looked through as
// they stand (DXR, Zec, Rizzo and Mikuc, CCR 2012): a list of a million prefixes is a table and a
// run for nearly every key, and an address that stands alone costs no chain of nodes down to its
// last bit. The steps stay with the caller, which passes them to each look-up.
template <typename Key>
class RangeTrie {
public:
    using Steps = std::span<const Step<Key>>;
    static constexpr unsigned kKeyBits = 8 * sizeof(Key);
    static constexpr std::size_t kMaxKeys = 32;  // of find_each()

    RangeTrie() = default;
    // Keys of `width` bits. The steps are sorted, no two begin alike, and the first begins at 0.
    RangeTrie(Steps steps, unsigned width);

    void prefetch(Key key) const noexcept { prefetch0(&table_[slot_of(key)]); }

    // `steps`: those it was made from. A key has no bit above the width.
    [[nodiscard]] std::uint32_t find(Key key, Steps steps) const noexcept {
        Walk walk = walk_of(key);
        while (walk.at < kRun) {
            advance(walk);
        }
        return row_at(walk.at, key, steps);
    }

    // The rows of at most kMaxKeys keys, all of them a level at a time, so that they wait for
    // memory together: for tries that are larger than a cache.
    void find_each(std::span<const Key> keys, Steps steps, std::uint32_t* rows) const noexcept {
        std::array<Walk, kMaxKeys> walks;
        for (std::size_t i = 0; i < keys.size(); ++i) {
            walks[i] = walk_of(keys[i]);
            prefetch(walks[i], steps);
        }
        for (bool inside = true; inside;) {
            inside = false;
            for (std::size_t i = 0; i < keys.size(); ++i) {
                if (walks[i].at < kRun) {
                    advance(walks[i]);
                    prefetch(walks[i], steps);
                    inside = inside || walks[i].at < kRun;
                }
            }
        }
        for (std::size_t i = 0; i < keys.size(); ++i) {
            rows[i] = row_at(walks[i].at, keys[i], steps);
        }
    }

    // True if find_each() is worth its while.
    [[nodiscard]] bool is_large() const noexcept { return large_; }

    [[nodiscard]] std::size_t bytes() const noexcept {
        return table_.size() * sizeof(std::uint32_t) + nodes_.size() * sizeof(Node) +
               leaves_.size() * sizeof(std::uint32_t);
    }

private:
    static constexpr unsigned kNodeBits = 6;
    static constexpr unsigned kChildren = 1U << kNodeBits;

    // The target of a place of the table or of a leaf, by its highest two bits: a node, a leaf, a
    // run (26 bits of its first step, above them how many steps follow that one), or a row.
    static constexpr std::uint32_t kLeaf = 0x4000'0000;
    static constexpr std::uint32_t kRun = 0x8000'0000;
    static constexpr std::uint32_t kRow = 0xC000'0000;
    static constexpr unsigned kStepBits = 26;
    static constexpr std::uint32_t kMostInRun = 8;

    struct Node {
        std::uint64_t inner = 0;   // children that are nodes
        std::uint64_t starts = 0;  // other children, where the leaf is not that of the one before
        std::uint32_t first_node = 0;
        std::uint32_t first_leaf = 0;
    };

    struct Walk {
        Key rest{};  // bits not used so far
        std::uint32_t at = 0;
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
    // Keys before the first slot, and behind the last, are as those of it: it is all one row.
    [[nodiscard]] std::size_t slot_of(Key key) const noexcept {
        const Key slot = std::min(std::max<Key>(key >> shift_, first_slot_), last_slot_);
        return static_cast<std::size_t>(slot - first_slot_);
    }

    [[nodiscard]] Walk walk_of(Key key) const noexcept {
        // In two steps: no shift is as wide as the key.
        return {static_cast<Key>(key << (kKeyBits - 1 - shift_) << 1), table_[slot_of(key)]};
    }
    // Leads from a node to a child, or from a leaf to what it leads to.
    void advance(Walk& walk) const noexcept {
        if (walk.at >= kLeaf) {
            walk.at = leaves_[walk.at - kLeaf];
            return;
        }
        const Node& node = nodes_[walk.at];
        const auto child = static_cast<unsigned>(walk.rest >> (kKeyBits - kNodeBits));
        const std::uint64_t up_to_child = ~std::uint64_t{0} >> (63 - child);
        walk.rest <<= kNodeBits;
        walk.at = ((node.inner >> child) & 1) != 0
                      ? node.first_node + ones(node.inner & up_to_child) - 1
                      : kLeaf + node.first_leaf + ones(node.starts & up_to_child) - 1;
    }
    void prefetch(const Walk& walk, Steps steps) const noexcept {
        if (walk.at < kLeaf) {
            prefetch0(&nodes_[walk.at]);
        } else if (walk.at < kRun) {
            prefetch0(&leaves_[walk.at - kLeaf]);
        } else if (walk.at < kRow) {
            const std::size_t first = first_of_run(walk.at);
            prefetch0(&steps[first]);
            prefetch0(&steps[first + following(walk.at)]);
        }
    }

    [[nodiscard]] static std::size_t first_of_run(std::uint32_t run) noexcept {
        return run & ((1U << kStepBits) - 1);
    }
    [[nodiscard]] static std::size_t following(std::uint32_t run) noexcept {
        return (run - kRun) >> kStepBits;
    }
    [[nodiscard]] static std::uint32_t row_at(std::uint32_t at, Key key, Steps steps) noexcept {
        if (at >= kRow) {
            return at - kRow;
        }
        const Step<Key>* run = &steps[first_of_run(at)];
        const std::size_t count = following(at);
        std::size_t before = 0;
        for (std::size_t i = 1; i <= count; ++i) {
            before += run[i].first <= key ? 1 : 0;
        }
        return run[before].row;
    }

    // Part `number` of a piece that is cut into 2^bits: its first key, and the step that holds it.
    [[nodiscard]] Piece part_of(const Piece& piece, unsigned number, unsigned bits,
                                std::size_t from_step) const;
    // How many steps begin inside, behind the first key; counted up to one more than a run has.
    [[nodiscard]] std::size_t steps_inside(const Piece& piece) const;
    // The place for a piece; a node is noted as to be filled.
    [[nodiscard]] std::uint32_t place_for(const Piece& piece);
    void fill(std::size_t node, const Piece& piece);

    void span_table();

    std::vector<std::uint32_t> table_;
    std::vector<Node> nodes_;
    std::vector<std::uint32_t> leaves_;
    unsigned width_ = 0;
    // Keys that share all bits but the last `shift_` have one slot of the table.
    unsigned shift_ = 0;
    Key first_slot_{};
    Key last_slot_{};
    bool large_ = false;

    // Only while it is built.
    Steps steps_;
    std::vector<Piece> pieces_;  // by node
};

extern template class RangeTrie<std::uint64_t>;
extern template class RangeTrie<Wide>;

}  // namespace sluice
