#pragma once
#include "lib/base/now.hpp"
#include "lib/meter/entry.hpp"
#include "lib/meter/line_pool.hpp"
#include "lib/meter/slot_row.hpp"
#include "lib/share/core.hpp"

#include <memory>
#include <span>

namespace sluice {

// Who lives in a core's tables: the limits behind the slots, how many entries each has, and the
// pool their bulk lies in. Whoever takes an entry away tells it here.
class Tenants {
public:
    explicit Tenants(std::size_t pool_lines);

    // The limits of the rule set in force; `rows` outlives its use. A set that changed numbers
    // names its change; buckets are read in the old numbers up to `now`.
    void adopt(std::span<const SlotRow> rows, std::uint64_t changes, Instant now) noexcept;

    // Live entries of a limit, as far as this core has seen them end.
    [[nodiscard]] const Counter& entries_of(LimitSlot slot) const noexcept { return live_[slot]; }

    [[nodiscard]] LinePool& pool() noexcept { return pool_; }
    [[nodiscard]] const SlotRow& row(LimitSlot slot) const noexcept { return rows_[slot]; }

    // Rewrites an entry that still carries former numbers under those in force.
    void update(Entry& entry, Now now) noexcept {
        if (stale_) [[unlikely]] {
            update_slow(entry, now);
        }
    }
    // Whether entries may carry former numbers: from a change of numbers until settled().
    [[nodiscard]] bool stale() const noexcept { return stale_; }
    void settled() noexcept { stale_ = false; }

    // Empties an entry whose bucket equals a fresh one. False: it does not, or it is held.
    [[nodiscard]] bool forget_if_idle(Entry& entry, Now now) noexcept {
        return entry.idle(now.at) && forget_slow(entry, now);
    }

    void came(LimitSlot slot) noexcept { live_[slot].add(1); }

private:
    void update_slow(Entry& entry, Now now) noexcept;
    void renumber_entry(Entry& entry, const SlotRow& row, Now now) noexcept;
    [[nodiscard]] bool forget_slow(Entry& entry, Now now) noexcept;
    void evict(Entry& entry) noexcept;

    std::span<const SlotRow> rows_;
    std::unique_ptr<Counter[]> live_;
    LinePool pool_;
    ChangeTimes changed_{};
    std::uint64_t changes_ = 0;
    bool stale_ = false;
};

}  // namespace sluice
