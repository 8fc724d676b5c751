#include "lib/match/burst_addresses.hpp"
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
    for_each_row(columns.gather(field_, rows, numbers), [&](std::size_t row) {
        found[row] = numbers_ != nullptr ? numbers_->find(numbers[row])
                                         : step_of(std::span{parts.steps}, numbers[row]).row;
    });
}

void Dimension::find_address(const HeaderColumns& columns, RowMask rows,
                             const DimensionParts& parts, std::uint32_t* found) const noexcept {
    rows &= columns.present_rows(field_);
    if (is_inner_) {
        using End = BurstAddresses::End;
        const BurstAddresses addresses{columns, rows,
                                       field_ == Field::IpDst ? End::Destination : End::Source};
        addresses.find(addresses_, parts, found);
        return;
    }
    BurstAddresses addresses;
    for_each_row(rows, [&](std::size_t row) { addresses.add(columns.address(field_, row), row); });
    addresses.find(addresses_, parts, found);
}

template void Dimension::find_rows<Dimension::To::Set>(const HeaderColumns&, RowMask,
                                                       const DimensionParts&,
                                                       std::uint32_t*) const noexcept;
template void Dimension::find_rows<Dimension::To::Add>(const HeaderColumns&, RowMask,
                                                       const DimensionParts&,
                                                       std::uint32_t*) const noexcept;

}  // namespace sluice
