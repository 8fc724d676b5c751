#pragma once
#include "lib/share/core.hpp"

namespace sluice {

// What one worker's ledger did; anyone may read it.
struct LedgerCounters {
    static constexpr bool kReadableAnywhere = true;

    Counter sent;       // amounts, to other workers
    Counter applied;    // amounts of other workers
    Counter answered;   // totals told to other workers
    Counter taken;      // totals of other workers
    Counter ring_full;  // sendings put off, since an owner has not read the earlier ones
    Counter held_back;  // amounts that wait, since their sender has not read the earlier answers
    Counter no_place;   // amounts an owner could not apply, since its table was full
    Counter returned;   // amounts unsent again: not applied, or the total found no place
    Counter dropped;    // amounts of limits that are gone
    Counter used_up;    // charges that did not fit max_unsynced
    Counter no_record;  // charges for which there was no record
    Counter in_use;     // records, now
};

}  // namespace sluice
