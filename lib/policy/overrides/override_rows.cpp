#include "lib/policy/overrides/override_rows.hpp"

#include <algorithm>
#include <cstring>
#include <tuple>

namespace sluice {
namespace {

void sort_ranges(std::vector<OverrideRows::RangeRow>& ranges) {
    const auto place = [](const OverrideRows::RangeRow& one) {
        const KeyRange& range = one.range;
        return std::tuple{range.index, range.version,        range.first,
                          ~range.last, one.row.place.source, one.row.place.line};
    };
    const auto before = [&](const auto& a, const auto& b) { return place(a) < place(b); };
    if (!std::is_sorted(ranges.begin(), ranges.end(), before)) {
        std::stable_sort(ranges.begin(), ranges.end(), before);
    }
}

}  // namespace

int compare_keys(ByteView a, ByteView b) noexcept {
    const int order = std::memcmp(a.data(), b.data(), std::min(a.size(), b.size()));
    return order != 0 || a.size() == b.size() ? order : a.size() < b.size() ? -1 : 1;
}

// Files mostly are in order, and few rows come from elsewhere.
void OverrideRows::sort() {
    const auto before = [this](const Row& a, const Row& b) {
        if (a.key != b.key) {
            return a.key < b.key;
        }
        if (const int order = compare_keys(bytes_of(a), bytes_of(b)); order != 0) {
            return order < 0;
        }
        return a.place.source != b.place.source ? a.place.source < b.place.source
                                                : a.begin < b.begin;
    };
    const auto middle = rows.begin() + static_cast<std::ptrdiff_t>(sorted);
    if (!std::is_sorted(middle, rows.end(), before)) {
        std::sort(middle, rows.end(), before);
    }
    std::inplace_merge(rows.begin(), middle, rows.end(), before);
    sorted = rows.size();
    sort_ranges(ranges);
}

}  // namespace sluice
