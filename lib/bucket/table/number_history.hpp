#pragma once
#include "lib/bucket/table/limit_registry.hpp"

#include <algorithm>
#include <cstddef>

// The numbers that a limit had since an entry was written, one after the other.
namespace sluice {

// The end of former numbers: when, and if what was owed beyond the next was forgiven.
struct ChangeEnd {
    Instant at{};
    bool forgiven = false;
    const OwnCounts* own_counts = nullptr;  // by these, where keys may have some
};

// Step by aggregation level through the numbers that were in force since an entry was written.
template <typename Convert>
void LimitRegistry::follow_changes(Stamp stamp, const SlotRow& row,
                                   Convert&& convert) const noexcept {
    std::size_t at = 0;
    while (at < row.previous.size() && row.previous[at].version != stamp.version) {
        ++at;
    }
    const AnyLimit* from = nullptr;
    ChangeEnd change;
    for (std::size_t i = std::min(at + 1, row.previous.size()); i-- > 0;) {
        const PreviousNumbers& previous = row.previous[i];
        const AnyLimit* numbers =
            numbers_at(previous.limit, previous.coarser, stamp.aggregation_level);
        if (from != nullptr && numbers != nullptr) {
            convert(*from, *numbers, change);
        }
        from = numbers != nullptr ? numbers : from;
        change = {recovery_log_->changed[previous.change % recovery_log_->changed.size()].at(),
                  previous.forgiven, previous.own_counts.get()};
    }
    const AnyLimit* to = numbers_at(*row.limit, row.coarser, stamp.aggregation_level);
    if (from != nullptr && to != nullptr) {
        convert(*from, *to, change);
    }
}

}  // namespace sluice
