#pragma once
#include "lib/engine/check/check_limit.hpp"

// Charges under limits whose keys several workers spend: each asks its ledger how far it may go
// ahead, and notes what it did.
namespace sluice {

[[nodiscard]] inline bool is_shared(const Entry& entry, const CheckContext& context) noexcept {
    return context.core.ledger != nullptr &&
           context.core.buckets.registry.row(entry.slot()).max_unsynced != 0;
}

// Gives back what a lease on a key's bucket has left, so that what is noted is what has been
// charged: for whoever asks for credit, or is about to write another state.
void end_lease(Entry& entry, const TableKey& key, CoreState& core) noexcept;

// The conformance of a check that the copy here admits: the same, or NoRoom.
[[nodiscard]] Conformance ask_ledger(LimitCheck& check, const LoadedRule& rule,
                                     const CheckContext& context) noexcept;

// True if the ledger can note so much, be it more than this worker may go ahead by.
[[nodiscard]] bool can_note(const LimitCheck& check, const CheckContext& context) noexcept;

// Charges a look that was admitted, or, when `rejected`, what fits of its cost.
void commit_shared(const LimitCheck& check, const CheckContext& context, bool rejected) noexcept;

}  // namespace sluice
