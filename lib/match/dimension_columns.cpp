#include "lib/match/address_key.hpp"
#include "lib/match/address_keys.hpp"
#include "lib/match/dimension.hpp"
#include "lib/packet/field_column.hpp"

#include <array>

namespace sluice {

template <Dimension::To kTo>
void Dimension::find_rows(const HeaderColumns& columns, RowMask rows, const DimensionParts& parts,
                          std::uint32_t* found) const noexcept {
    if (!table_.empty()) {
        find_in_table<kTo>(columns, rows, found);
        return;
    }
    std::array<std::uint32_t, kMaxBurst> unscaled;
    unscaled.fill(absent_row_);
    if (row_of(field_).kind == FieldKind::Address) {
        find_address(columns, rows, parts, unscaled.data());
    } else {
        find_number(columns, rows, parts, unscaled.data());
    }
    for (std::size_t i = 0; i < kMaxBurst; ++i) {
        found[i] = (kTo == To::Add ? found[i] : 0) + unscaled[i] * stride_;
    }
}

template <Dimension::To kTo>
void Dimension::find_in_table(const HeaderColumns& columns, RowMask rows,
                              std::uint32_t* found) const noexcept {
    // Nothing that is written changes what is read, which the compiler cannot know.
    const std::uint16_t* const table = table_.data();
    // The last place is that of packets that lack the field. A number is masked into the others,
    // also in rows without the field.
    const std::uint64_t absent = table_.size() - 1;
    const auto look_up = [&](const auto& numbers, RowMask there) {
        for (std::size_t i = 0; i < kMaxBurst; ++i) {
            const std::uint64_t is_there = 0 - std::uint64_t{there >> i & 1};
            const std::uint64_t number = static_cast<std::uint64_t>(numbers[i]) & (absent - 1);
            found[i] =
                (kTo == To::Add ? found[i] : 0) + table[(number & is_there) | (absent & ~is_there)];
        }
    };
    const RowMask there = columns.present_rows(field_);
    if (!use_column(field_, columns, [&](const auto& column) { look_up(column, there); })) {
        RowNumbers numbers{};
        look_up(numbers, columns.gather(field_, rows, numbers));
    }
}

void Dimension::find_number(const HeaderColumns& columns, RowMask rows, const DimensionParts& parts,
                            std::uint32_t* found) const noexcept {
    RowNumbers numbers;
    for_each_row(columns.gather(field_, rows, numbers),
                 [&](std::size_t row) { found[row] = trie_.find(numbers[row], parts.steps); });
}

void Dimension::find_address(const HeaderColumns& columns, RowMask rows,
                             const DimensionParts& parts, std::uint32_t* found) const noexcept {
    AddressKeys<std::uint64_t> v4;
    AddressKeys<Wide> v6;
    const auto add_v4 = [&](std::uint64_t key, std::size_t row) {
        v4.add(key, static_cast<std::uint32_t>(row));
        if (!is_slim_) [[likely]] {
            prefetch(key);
        }
    };
    const auto add_v6 = [&](const IpAddress& address, std::size_t row) {
        v6.add(v6_key(address), static_cast<std::uint32_t>(row));
        if (!is_slim_) [[likely]] {
            prefetch(v6.last());
        }
    };
    rows &= columns.present_rows(field_);
    if (is_inner_) {
        const bool is_destination = field_ == Field::IpDst;
        const auto& v4_column = is_destination ? columns.dst_host : columns.src_host;
        const auto& v6_column = is_destination ? columns.dst6 : columns.src6;
        for_each_row(rows & ~columns.v6, [&](std::size_t row) { add_v4(v4_column[row], row); });
        for_each_row(rows & columns.v6, [&](std::size_t row) { add_v6(v6_column[row], row); });
    } else {
        for_each_row(rows, [&](std::size_t row) {
            const VersionedAddress address = columns.address(field_, row);
            if (address.version == IpVersion::V4) {
                add_v4(v4_key(address.address), row);
            } else {
                add_v6(address.address, row);
            }
        });
    }
    if (is_slim_) [[unlikely]] {
        v4.find_by_halving(parts.steps, found);
        v6.find_by_halving(parts.v6_steps, found);
        return;
    }
    v4.find(packed_.get(), fib_.get(), trie_, std::span{parts.steps}, found);
    v6.find(v6_packed_.get(), v6_fib_.get(), v6_trie_, std::span{parts.v6_steps}, found);
}

template void Dimension::find_rows<Dimension::To::Set>(const HeaderColumns&, RowMask,
                                                       const DimensionParts&,
                                                       std::uint32_t*) const noexcept;
template void Dimension::find_rows<Dimension::To::Add>(const HeaderColumns&, RowMask,
                                                       const DimensionParts&,
                                                       std::uint32_t*) const noexcept;

}  // namespace sluice
