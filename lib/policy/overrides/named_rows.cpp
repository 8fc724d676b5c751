#include "lib/policy/overrides/named_rows.hpp"

#include "lib/policy/overrides/named_ranges.hpp"

#include <algorithm>

namespace sluice {

bool NamedRows::has_any() const noexcept {
    return std::ranges::any_of(rows_.rows,
                               [this](const OverrideRows::Row& row) { return is_named(row); });
}

std::span<const OverrideRows::Row> NamedRows::of_key(std::uint8_t key,
                                                     ByteView bytes) const noexcept {
    const auto first = std::ranges::partition_point(rows_.rows, [&](const auto& row) {
        return row.key != key ? row.key < key : compare_keys(rows_.bytes_of(row), bytes) < 0;
    });
    const auto last = std::find_if_not(first, rows_.rows.end(), [&](const auto& row) {
        return row.key == key && compare_keys(rows_.bytes_of(row), bytes) == 0;
    });
    return {first, last};
}

bool NamedRows::is_replaced(const OverrideRows::Row& row,
                            std::span<const OverrideRows::Row> of_key) const noexcept {
    const OverrideRows::Piece& piece = rows_.pieces[row.piece];
    return std::ranges::any_of(of_key, [&](const OverrideRows::Row& other) {
        const OverrideRows::Piece& set = rows_.pieces[other.piece];
        return other.place.source == OverrideSource::RunTime && set.has_numbers() &&
               (piece.exempt || piece.numbers.limit == set.numbers.limit);
    });
}

NamedRow NamedRows::named(const OverrideRows::Row& row) const {
    const OverrideRows::Piece& piece = rows_.pieces[row.piece];
    return {row.place, piece.exempt, piece.numbers.limit, piece.numbers.until,
            row.reason == 0 ? nullptr : rows_.reasons[row.reason - 1]};
}

std::string text_of(const OverridePlace& place) {
    return "line " + std::to_string(place.line) + " of the " +
           std::string{source_name(place.source)};
}

}  // namespace sluice
