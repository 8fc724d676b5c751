#pragma once
#include "lib/meter/any_meter.hpp"
#include "lib/meter/former_tables.hpp"
#include "lib/meter/peer_tables.hpp"
#include "lib/meter/penalty.hpp"

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

// The same, exactly where that can be told. `cell` is fresh, or owes less.
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

// What a key that gets a place in `store` owes under the slots that its limit had before its keys
// moved to other workers, in the tables of this process and of earlier ones.
[[nodiscard]] inline Owed owed_before(const BucketStore& store, const FiledKey& key,
                                      std::uint8_t step, Now now) noexcept {
    Owed owed;
    if (store.peers() != nullptr) {
        owed = store.peers()->owed_before(key, step, store.tenants, now);
    }
    if (owed.found || store.former() == nullptr) {
        return owed;
    }
    for (const MovedFrom& moved : store.tenants.row(slot_of(key)).moved()) {
        owed.used = std::max(
            owed.used, store.former()->used(refiled(key, moved.slot), step, store.tenants, now));
    }
    return owed;
}

}  // namespace sluice
