#pragma once
#include "lib/engine/check/check_limit.hpp"

// Debts of a key in buckets of other workers, or of earlier processes, which the bucket that its
// packet is charged to here says nothing of.
//
//   moving     others may go on charging theirs: what they hold is weighed at each packet
//   moved      nobody does: a key that has a place here has taken it over as it was filed, and one
//              without has it charged to the wider key that stands for it
namespace sluice {

struct AskedLimit {
    const LoadedLimit& limit;
    const LoadedRule& rule;
    const CheckContext& context;
};

// While keys move, a worker that judges one may be another than yesterday's: what others hold of
// it, or of the wider key that stands for it, counts as if it were held here. `own` is the packet's
// key.
void check_others(LimitCheck& check, const TableKey& own, const AskedLimit& asked) noexcept;

// Charges a wider key, which admits a key that found no place here, with what the key owes
// elsewhere, once, or refuses the packet. It is also refused if the key's own bucket would refuse
// it, if it were here. So nothing that is owed is left behind, and a key that had nothing left
// where it was is given nothing here.
void migrate_debt(LimitCheck& check, const TableKey& own, const AskedLimit& asked) noexcept;

}  // namespace sluice
