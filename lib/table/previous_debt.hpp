#pragma once
#include "lib/meter/any_meter.hpp"
#include "lib/meter/penalty.hpp"
#include "lib/table/previous_tables.hpp"
#include "lib/table/worker_tables.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <variant>

// What a bucket that is filed anew takes over of what its key owes elsewhere.
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

// The same, exactly where that is possible. `cell` is fresh, or owes less.
inline void owe(Cell& cell, const AnyLimit& numbers, const Owed& owed, LinePool& pool,
                Now now) noexcept {
    if (owed.bucket && gcra_of(numbers) != nullptr) {
        if (owed.bucket->fresh_from > std::max(cell.fresh_from, now.at)) {
            cell = {owed.bucket->fresh_from, owed.bucket->below};
        }
        return;
    }
    if (owed.line && cell.fresh_from <= now.at) {
        pool.at<std::array<std::byte, kLineBytes>>(cell.rest) = owed.line->bytes;
        cell.fresh_from = owed.line->fresh_from;
        return;
    }
    owe_what_was_used(cell, numbers, owed.used, pool, now);
}

// What is owed elsewhere, in the tables of this process and of earlier ones, under the slots that
// the limit had before its keys moved to other workers. `store` is the own worker's.
[[nodiscard]] inline Owed owed_before(const BucketStore& store, const BucketAt& at,
                                      Now now) noexcept {
    Owed owed;
    if (store.worker_tables() != nullptr) {
        owed = store.worker_tables()->owed_before(at, store.registry, now);
    }
    const PreviousTables* previous = store.previous();
    if (owed.found || previous == nullptr) {
        return owed;
    }
    for (const MigratedFrom& moved : store.registry.row(slot_of(at.key)).moved()) {
        const Units used = at.of_rule ? previous->used_by_rule(moved.slot, store.registry, now)
                                      : previous->used(with_slot(at.key, moved.slot),
                                                       at.aggregation_level, store.registry, now);
        owed.used = std::max(owed.used, used);
    }
    return owed;
}

// All that a key without a place in `store` owes in slots that are charged no more.
[[nodiscard]] inline Units owed_elsewhere(const BucketStore& store, const BucketAt& at,
                                          Now now) noexcept {
    const Units owed = owed_before(store, at, now).used;
    return store.previous() == nullptr
               ? owed
               : std::max(owed, store.previous()->used(at.key, at.aggregation_level, store.registry,
                                                       now));
}

// Ends that debt: it has been charged to a wider key.
inline void end_elsewhere(const BucketStore& store, const BucketAt& at) noexcept {
    if (store.worker_tables() != nullptr) {
        store.worker_tables()->end_before(at, store.registry);
    }
    if (store.previous() == nullptr) {
        return;
    }
    store.previous()->forget(at.key, at.aggregation_level);
    for (const MigratedFrom& moved : store.registry.row(slot_of(at.key)).moved()) {
        store.previous()->forget(with_slot(at.key, moved.slot), at.aggregation_level);
    }
}

}  // namespace sluice
