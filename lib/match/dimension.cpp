#include "lib/match/dimension.hpp"

#include <algorithm>

namespace sluice {
namespace {

// nullptr: there are few steps, or their table would take more memory than there is for it.
template <typename Fib, typename Key>
std::shared_ptr<const Fib> fib_for(const std::vector<Step<Key>>& steps, std::size_t many) {
    if (steps.size() < many) {
        return nullptr;
    }
    Result<Fib> fib = Fib::make(steps);
    return fib ? std::make_shared<const Fib>(*std::move(fib)) : nullptr;
}

// The least steps for a table of few rows, and for one of many.
struct Many {
    std::size_t packed;
    std::size_t others;
};
constexpr Many kManyV4{kManyPackedSteps, kManySteps};
constexpr Many kManyV6{kManyWideSteps, kManyWideSteps};

template <typename Packed, typename Fib, typename Key>
std::size_t bytes_when_fast(const std::vector<Step<Key>>& steps, const RangeTrie<Key>& trie,
                            const Many& many) {
    const std::size_t packed =
        steps.size() < many.packed ? Packed::kMostBytes + 1 : Packed::bytes_for(steps);
    if (packed <= Packed::kMostBytes) {
        return packed;
    }
    const std::size_t bytes =
        steps.size() < many.others ? Fib::kMostBytes + 1 : Fib::bytes_for(steps);
    if (bytes <= Fib::kMostBytes) {
        return bytes;
    }
    return trie.bytes() != 0
               ? trie.bytes()
               : RangeTrie<Key>{steps, sizeof(Key) == sizeof(Wide) ? kV6Bits : kV4Bits}.bytes();
}

std::vector<std::uint16_t> table_of(const DimensionParts& parts) {
    const std::size_t values = std::size_t{1} << key_bits(parts.field);
    std::vector<std::uint16_t> table(values + 1);
    for (auto step = parts.steps.begin(); step != parts.steps.end(); ++step) {
        const auto next = step + 1;
        const auto last = next == parts.steps.end() ? values : next->first;
        std::fill(table.begin() + static_cast<std::ptrdiff_t>(step->first),
                  table.begin() + static_cast<std::ptrdiff_t>(last),
                  static_cast<std::uint16_t>(step->row));
    }
    table.back() = static_cast<std::uint16_t>(parts.absent_row);
    return table;
}

}  // namespace

Dimension::Dimension(const DimensionParts& parts, Lookups lookups)
    : field_{parts.field},
      absent_row_{parts.absent_row},
      is_inner_{field_ == Field::IpSrc || field_ == Field::IpDst || field_ == Field::ClientIp} {
    const bool many =
        parts.steps.size() >= kManyPackedSteps || parts.v6_steps.size() >= kManyWideSteps;
    is_slim_ = row_of(field_).kind == FieldKind::Address && many && lookups == Lookups::Slim;
    if (is_slim_) {
        return;
    }
    if (row_of(field_).kind == FieldKind::Address) {
        packed_ = fib_for<PackedV4>(parts.steps, kManyPackedSteps);
        fib_ = packed_ != nullptr ? nullptr : fib_for<FibV4>(parts.steps, kManySteps);
        v6_packed_ = fib_for<PackedV6>(parts.v6_steps, kManyWideSteps);
        v6_fib_ = v6_packed_ != nullptr ? nullptr : fib_for<FibV6>(parts.v6_steps, kManyWideSteps);
        trie_ = packed_ != nullptr || fib_ != nullptr
                    ? RangeTrie<std::uint64_t>{}
                    : RangeTrie<std::uint64_t>{parts.steps, kV4Bits};
        v6_trie_ = v6_packed_ != nullptr || v6_fib_ != nullptr
                       ? RangeTrie<Wide>{}
                       : RangeTrie<Wide>{parts.v6_steps, kV6Bits};
    } else if (key_bits(field_) <= kMaxTableBits) {
        table_ = table_of(parts);
    } else {
        trie_ = {parts.steps, key_bits(field_)};
    }
}

std::size_t Dimension::bytes(const DimensionParts& parts) const noexcept {
    const std::size_t bytes = table_.size() * sizeof(table_.front());
    if (row_of(field_).kind != FieldKind::Address) {
        return bytes + trie_.bytes();
    }
    return bytes + bytes_when_fast<PackedV4, FibV4>(parts.steps, trie_, kManyV4) +
           bytes_when_fast<PackedV6, FibV6>(parts.v6_steps, v6_trie_, kManyV6);
}

void Dimension::set_stride(std::uint32_t stride) {
    stride_ = stride;
    for (std::uint16_t& row : table_) {
        row = static_cast<std::uint16_t>(row * stride);
    }
}

}  // namespace sluice
