#include "lib/bucket/meter/any_meter.hpp"
#include "lib/bucket/table/limit_registry.hpp"

// An operator's forgiveness of what entries owe beyond their numbers.
namespace sluice {

// A change that the entry has not followed yet forgives.
bool LimitRegistry::is_forgiven(const Entry& entry) const noexcept {
    const SlotRow& row = rows_[entry.slot()];
    if (entry.stamp().version == row.version || entry.has_own_numbers()) {
        return false;
    }
    for (const PreviousNumbers& previous : row.previous) {
        if (previous.forgiven) {
            return true;
        }
        if (previous.version == entry.stamp().version) {
            return false;
        }
    }
    return false;
}

bool LimitRegistry::forgive_excess(Entry& entry, const AnyLimit& numbers, Now now) noexcept {
    Cell cell = cell_of(entry);
    const bool own = entry.has_own_numbers();
    const bool in_line = own || algorithm_of(numbers) == Algorithm::ColorMeter;
    bool forgiven = false;
    {
        const EntryTransaction change{recovery_log_->undo, entry,
                                      in_line ? entry.cell().rest : kNoLine, pool_};
        forgiven = relieve(cell, numbers, pool_, now, kExcess);
        if (forgiven) {
            write(entry, cell, now);
        }
    }
    note_forgiven(forgiven);
    return forgiven;
}

void LimitRegistry::forgive_own(Gcra& bucket, const Limit& limit, LimitSlot slot,
                                Instant changed) noexcept {
    if (rows_[slot].latest.forgives_own) {
        note_forgiven(relieve(bucket, limit, changed, kExcess));
    }
}

}  // namespace sluice
