#pragma once
#include "lib/base/units.hpp"
#include "lib/bucket/table/entry.hpp"

#include <cstdint>

namespace sluice {

// A bucket of a store.
struct BucketAt {
    TableKey key;
    std::uint8_t aggregation_level = 0;  // of the key, as it coarsens
    bool of_rule = false;                // the limit's last bucket, which is no key's
};
// The same bucket under another slot.
[[nodiscard]] inline BucketAt with_slot(const BucketAt& at, LimitSlot slot) noexcept {
    return {with_slot(at.key, slot), at.aggregation_level, at.of_rule};
}

// Units that one core has charged and the owners of the keys may not have in their totals yet
// (lib/peer/merge). Any core may read it.
class UnsyncedUnits {
public:
    // The units of one bucket, in all windows together. A unit is missing here only once its
    // owner's total, and this core's copy, contain it.
    [[nodiscard]] virtual Units of(const BucketAt& at) const noexcept = 0;
    // How many accounts of a limit have any. Entries that are read afterwards include those of the
    // owners that amounts missing here have been charged to.
    [[nodiscard]] virtual std::uint64_t accounts_of(LimitSlot slot) const noexcept = 0;

protected:
    ~UnsyncedUnits() = default;
};

}  // namespace sluice
