#include "lib/match/range_trie.hpp"

#include <algorithm>

namespace sluice {
namespace {

constexpr std::size_t kFew = 512;
constexpr std::size_t kMany = std::size_t{1} << 16;

}  // namespace

// The table grows with the steps, in strides of a node, and so that keys of 64 and 128 bits are
// used up exactly. Keys that leave bits over, such as IPv4 addresses, get four places for a step
// when there are many: 4 MiB, so that a run seldom has more than a few.
template <typename Key>
unsigned RangeTrie<Key>::table_bits_for(unsigned width, std::size_t steps) noexcept {
    constexpr unsigned kMostBits = 20;
    const bool has_room = width + kNodeBits <= kKeyBits;
    unsigned bits = (has_room ? 0 : width % kNodeBits) + 2 * kNodeBits;
    if (steps >= kFew && bits + kNodeBits <= kMostBits) {
        bits += kNodeBits;
    }
    if (steps >= kMany && has_room) {
        bits = kMostBits;
    }
    return std::min(width, bits);
}

template <typename Key>
RangeTrie<Key>::RangeTrie(Steps steps, unsigned width)
    : width_{width},
      table_bits_{table_bits_for(width, steps.size())},
      large_{steps.size() >= kFew},
      steps_{steps} {
    table_.resize(std::size_t{1} << table_bits_);
    const Piece whole;
    std::size_t step = 0;
    for (unsigned slot = 0; slot < table_.size(); ++slot) {
        const Piece part = part_of(whole, slot, table_bits_, step);
        step = part.step;
        table_[slot] = place_for(part);
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
std::size_t RangeTrie<Key>::steps_inside(const Piece& piece) const {
    const Key others = piece.bits == kKeyBits ? Key{0} : static_cast<Key>(~Key{0} >> piece.bits);
    const Key last = piece.first | others;
    std::size_t count = 0;
    while (count <= kMostInRun && piece.step + count + 1 < steps_.size() &&
           aligned(steps_[piece.step + count + 1].first) <= last) {
        ++count;
    }
    return count;
}

template <typename Key>
std::uint32_t RangeTrie<Key>::place_for(const Piece& piece) {
    const std::size_t inside = steps_inside(piece);
    if (inside == 0) {
        return kRow + steps_[piece.step].row;
    }
    if (inside <= kMostInRun) {
        return kRun + (static_cast<std::uint32_t>(inside) << kStepBits) +
               static_cast<std::uint32_t>(piece.step);
    }
    pieces_.push_back(piece);
    return static_cast<std::uint32_t>(pieces_.size() - 1);
}

template <typename Key>
void RangeTrie<Key>::fill(std::size_t node, const Piece& piece) {
    Node filled{.first_node = static_cast<std::uint32_t>(pieces_.size()),
                .first_leaf = static_cast<std::uint32_t>(leaves_.size())};
    std::size_t step = piece.step;
    for (unsigned child = 0; child < kChildren; ++child) {
        const Piece part = part_of(piece, child, kNodeBits, step);
        step = part.step;
        const std::uint32_t place = place_for(part);
        if (place < kLeaf) {
            filled.inner |= std::uint64_t{1} << child;
        } else if (leaves_.size() == filled.first_leaf || leaves_.back() != place) {
            filled.starts |= std::uint64_t{1} << child;
            leaves_.push_back(place);
        }
    }
    nodes_.resize(std::max(nodes_.size(), node + 1));
    nodes_[node] = filled;
}

template class RangeTrie<std::uint64_t>;
template class RangeTrie<Wide>;

}  // namespace sluice
