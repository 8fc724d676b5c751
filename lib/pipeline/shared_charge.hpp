#pragma once
#include "lib/pipeline/look_at.hpp"

// Charges under limits whose keys several workers spend: each asks its ledger how far it may go
// ahead, and notes what it did.
namespace sluice {

[[nodiscard]] inline bool is_shared(const Entry& entry, const Judging& judging) noexcept {
    return judging.core.ledger != nullptr &&
           judging.core.buckets.tenants.row(entry.slot()).max_unsynced != 0;
}

// What a lease on a key's bucket has left goes back, so that what is noted is what has been
// charged: for whoever asks for credit, or is about to write another state.
void end_lease(Entry& entry, const FiledKey& key, CoreState& core) noexcept;

// What becomes of a look that the copy here admits: the same, or NoRoom.
[[nodiscard]] Judgement ask_ledger(const Look& look, const LoadedRule& rule,
                                   const Judging& judging) noexcept;

// Whether the ledger can note so much, be it more than this worker may go ahead by.
[[nodiscard]] bool can_note(const Look& look, const Judging& judging) noexcept;

// Charges a look that was admitted, or, when `rejected`, what fits of its cost.
void settle_shared(const Look& look, const Judging& judging, bool rejected) noexcept;

}  // namespace sluice
