#pragma once
#include "lib/meter/any_meter.hpp"
#include "lib/meter/penalty.hpp"

#include <algorithm>
#include <variant>

namespace sluice {

// Charges a fresh bucket with what its key had used elsewhere: as if all of it were used now, so
// that nothing of it ends too early.
inline void owe_what_was_used(Cell& cell, const AnyLimit& numbers, Units used, LinePool& pool,
                              Now now) noexcept {
    const Units most = most_of(numbers);
    const Units owed = std::min(used, most);
    if (algorithm_of(numbers) != Algorithm::Penalty) {
        if (owed.count() != 0) {
            leave_at_most(cell, numbers, pool, now, Units{most.count() - owed.count()});
        }
        return;
    }
    PenaltyMeter{std::get<PenaltyLimit>(numbers)}.owe(cell, pool, now, owed);
}

}  // namespace sluice
