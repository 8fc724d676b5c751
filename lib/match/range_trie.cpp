#include "lib/match/range_trie.hpp"

namespace sluice {
namespace {

constexpr std::size_t kFew = 512;
constexpr std::size_t kMany = std::size_t{1} << 16;

// The table grows with the steps. 2^20 are 4 MiB: when there are many, four places for a step, so
// that a run seldom has more than a few.
constexpr unsigned table_bits_for(std::size_t steps) noexcept {
    return steps >= kMany ? 20 : steps >= kFew ? 18 : 12;
}

}  // namespace

// The table has as many slots as there may be, or the fewest that separate all steps; and one
// before them and one behind them, if there are keys there. The bits that nodes take off keys of 64
// and 128 bits have to use these up exactly: others leave bits over.
template <typename Key>
void RangeTrie<Key>::span_table() {
    if (steps_.size() < 2) {
        return;
    }
    const unsigned stride = width_ + kNodeBits <= kKeyBits ? 1 : kNodeBits;
    const Key first = steps_[1].first;
    const Key last = steps_.back().first;
    const Key most = Key{1} << table_bits_for(steps_.size());
    while ((last >> shift_) - (first >> shift_) >= most) {
        shift_ += stride;
    }
    Key bits{};
    for (const Step<Key>& step : steps_) {
        bits |= step.first;
    }
    while (shift_ + stride < width_ && (bits & ((Key{1} << (shift_ + stride)) - 1)) == 0) {
        shift_ += stride;
    }
    const Key largest = static_cast<Key>(~Key{0}) >> (kKeyBits - width_);
    first_slot_ = std::max<Key>(first >> shift_, 1) - 1;
    // The slot behind the last step, unless that lies in the last slot there can be.
    const bool is_at_end = last >> shift_ == largest >> shift_;
    last_slot_ = (last >> shift_) + (is_at_end ? 0 : 1);
}

template <typename Key>
RangeTrie<Key>::RangeTrie(Steps steps, unsigned width)
    : width_{width}, large_{steps.size() >= kFew}, steps_{steps} {
    span_table();
    table_.resize(static_cast<std::size_t>(last_slot_ - first_slot_) + 1);
    std::size_t step = 0;
    for (std::size_t slot = 0; slot < table_.size(); ++slot) {
        const Key begin = static_cast<Key>((first_slot_ + slot) << shift_);
        while (step + 1 < steps_.size() && steps_[step + 1].first <= begin) {
            ++step;
        }
        table_[slot] = place_for({aligned(begin), width_ - shift_, step});
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
