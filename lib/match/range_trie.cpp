#include "lib/match/range_trie.hpp"

#include <algorithm>

namespace sluice {

// The table grows with the steps, in strides of a node, and so that keys of 64 and 128 bits are
// used up exactly.
template <typename Key>
unsigned RangeTrie<Key>::table_bits_for(unsigned width, std::size_t steps) noexcept {
    constexpr std::size_t kFew = 512;
    constexpr unsigned kMostBits = 20;
    const unsigned odd = width + kNodeBits <= kKeyBits ? 0 : width % kNodeBits;
    unsigned bits = odd + 2 * kNodeBits;
    if (steps >= kFew && bits + kNodeBits <= kMostBits) {
        bits += kNodeBits;
    }
    return std::min(width, bits);
}

template <typename Key>
RangeTrie<Key>::RangeTrie(std::span<const Step<Key>> steps, unsigned width)
    : width_{width}, table_bits_{table_bits_for(width, steps.size())}, steps_{steps} {
    table_.resize(std::size_t{1} << table_bits_);
    const Piece whole;
    std::size_t step = 0;
    for (unsigned slot = 0; slot < table_.size(); ++slot) {
        const Piece part = part_of(whole, slot, table_bits_, step);
        step = part.step;
        if (is_uniform(part)) {
            table_[slot] = kIsRow | steps_[step].row;
        } else {
            table_[slot] = static_cast<std::uint32_t>(pieces_.size());
            pieces_.push_back(part);
        }
    }
    // Nodes that are filled add theirs at the end.
    for (std::size_t node = 0; node < pieces_.size(); ++node) {
        const Piece piece = pieces_[node];
        fill(node, piece);
    }
    pieces_ = {};
    steps_ = {};
}

template <typename Key>
typename RangeTrie<Key>::Piece RangeTrie<Key>::part_of(const Piece& piece, unsigned number,
                                                       unsigned bits, std::size_t from_step) const {
    const unsigned shared = piece.bits + bits;
    Piece part{static_cast<Key>(piece.first | (Key{number} << (kKeyBits - shared))), shared,
               from_step};
    while (part.step + 1 < steps_.size() && aligned(steps_[part.step + 1].first) <= part.first) {
        ++part.step;
    }
    return part;
}

template <typename Key>
bool RangeTrie<Key>::is_uniform(const Piece& piece) const {
    const Key others = piece.bits == kKeyBits ? Key{0} : static_cast<Key>(~Key{0} >> piece.bits);
    const Key last = piece.first | others;
    return piece.step + 1 == steps_.size() || aligned(steps_[piece.step + 1].first) > last;
}

template <typename Key>
void RangeTrie<Key>::fill(std::size_t node, const Piece& piece) {
    Node filled{.first_node = static_cast<std::uint32_t>(pieces_.size()),
                .first_row = static_cast<std::uint32_t>(rows_.size())};
    std::size_t step = piece.step;
    for (unsigned child = 0; child < kChildren; ++child) {
        const Piece part = part_of(piece, child, kNodeBits, step);
        step = part.step;
        if (!is_uniform(part)) {
            filled.inner |= std::uint64_t{1} << child;
            pieces_.push_back(part);
        } else if (rows_.size() == filled.first_row || rows_.back() != steps_[step].row) {
            filled.starts |= std::uint64_t{1} << child;
            rows_.push_back(steps_[step].row);
        }
    }
    nodes_.resize(std::max(nodes_.size(), node + 1));
    nodes_[node] = filled;
}

template class RangeTrie<std::uint64_t>;
template class RangeTrie<Wide>;

}  // namespace sluice
