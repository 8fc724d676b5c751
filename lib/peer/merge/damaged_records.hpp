#pragma once
#include "lib/bucket/meter/any_meter.hpp"
#include "lib/bucket/table/slot_row.hpp"
#include "lib/peer/merge/record.hpp"

#include <algorithm>
#include <cstdint>
#include <span>

namespace sluice {

// Records that an earlier process cannot have left, since they have more unsynced than any account
// may have: a bit of them has flipped. They count as a full debt. Returns how many there were.
[[nodiscard]] inline std::uint64_t cut_damaged_records(std::span<Record> records,
                                                       std::span<const SlotRow> rows) noexcept {
    std::uint64_t damaged = 0;
    for (Record& record : records) {
        const LimitSlot slot = record.account().slot;
        if (record.deltas == 0 || slot >= rows.size() || rows[slot].limit == nullptr) {
            continue;
        }
        // max_unsynced may have been larger before, but was never above what the limit has.
        const SlotRow& row = rows[slot];
        const AnyLimit* limit =
            numbers_at(*row.limit, row.coarser, record.account().aggregation_level);
        const std::uint64_t most = most_of(limit == nullptr ? *row.limit : *limit).count();
        const std::uint64_t full =
            std::min<std::uint64_t>(std::max<std::uint64_t>(row.max_unsynced, most), UINT32_MAX);
        if (record.unsynced() > full) {
            record.set(full, 0);
            ++damaged;
        }
    }
    return damaged;
}

}  // namespace sluice
