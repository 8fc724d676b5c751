#pragma once
#include "lib/base/lazy_array.hpp"
#include "lib/base/now.hpp"
#include "lib/base/prefetch.hpp"
#include "lib/bucket/meter/color_meter.hpp"
#include "lib/bucket/meter/open_connections.hpp"
#include "lib/bucket/pool/line_pool.hpp"
#include "lib/bucket/pool/remote_lines.hpp"
#include "lib/bucket/table/entry.hpp"
#include "lib/bucket/table/own_bucket.hpp"
#include "lib/bucket/table/recovery_log.hpp"
#include "lib/bucket/table/share_group.hpp"
#include "lib/bucket/table/slot_row.hpp"
#include "lib/bucket/table/utc_steps.hpp"
#include "lib/share/core.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <span>

namespace sluice {

static_assert(BucketName::kTagBits == kTagBits && DigestIndex::kGroups == kSlots);

// The limits behind the slots of a core's tables, the number of entries of each, and the pool of
// their larger states. Every removal of an entry is reported here.
class LimitRegistry {
public:
    explicit LimitRegistry(std::size_t pool_lines);
    // In memory of the caller, which may outlive a process.
    LimitRegistry(RecoveryLog& recovery_log, LinePool pool);

    // Entries were found that other processes have filed: nothing is known of when they were last
    // brought up to date. Instants of changes that cannot be read count as `now`: recover() has
    // left no entry that needs them.
    void recover(Instant now) noexcept;

    // The limits of the rule set in force; `rows` outlives its use. A set that changed numbers
    // names its change; buckets are read in the old numbers up to `now`.
    void adopt(std::span<const SlotRow> rows, std::uint64_t changes, Instant now) noexcept;
    // The groups of the limits, by slot; empty: there are none. They outlive their use.
    void adopt_groups(std::span<const ShareGroup> groups) noexcept;
    // Once per burst, before its first look.
    void note_time(Now now) noexcept { utc_steps_.note(now); }

    // The generation of the overrides: another one with each set, from 1 on. It would repeat for an
    // entry that stays unread over sixteen million sets.
    [[nodiscard]] std::uint32_t override_generation() const noexcept {
        return override_generation_;
    }

    // Live entries of a limit, as far as this core has seen them end.
    [[nodiscard]] const Counter& entries_of(LimitSlot slot) const noexcept { return live_[slot]; }

    // The same of all limits of a group.
    [[nodiscard]] std::uint64_t entries_of_group(ShareGroup group) const noexcept {
        return live_in_group_[group];
    }

    // Lines of the pool that they have taken.
    [[nodiscard]] std::uint64_t lines_of_group(ShareGroup group) const noexcept {
        return lines_in_group_[group];
    }

    // Lines that are kept for no parent.
    [[nodiscard]] std::size_t lines_for_keys() const noexcept {
        return pool_.size() - lines_promised();
    }

    // Entries that have gone, of all limits: each had nothing to say any more, or was reset.
    [[nodiscard]] const Counter& evictions() const noexcept { return live_[kSlots]; }

    // Buckets that owed more than a fresh one has, and were forgiven what was beyond it.
    [[nodiscard]] const Counter& forgiven() const noexcept { return live_[kSlots + 1]; }
    // Lets an entry owe no more than that, under the numbers that its key has now. False: it owes
    // no more.
    [[nodiscard]] bool forgive_excess(Entry& entry, const AnyLimit& numbers, Now now) noexcept;

    [[nodiscard]] LinePool& pool() noexcept { return pool_; }
    [[nodiscard]] const LinePool& pool() const noexcept { return pool_; }
    [[nodiscard]] const SlotRow& row(LimitSlot slot) const noexcept { return rows_[slot]; }
    [[nodiscard]] RecoveryLog& recovery_log() noexcept { return *recovery_log_; }
    [[nodiscard]] const RecoveryLog& recovery_log() const noexcept { return *recovery_log_; }
    // Numbers changed when an earlier process adopted the change, whose log this is: its entries
    // are read here. Before the first set is adopted, and only where nothing has been here yet.
    void go_on_from(const RecoveryLog& earlier) noexcept;
    // True if a slot is that of a limit in force.
    [[nodiscard]] bool knows(LimitSlot slot) const noexcept {
        return slot < rows_.size() && rows_[slot].limit != nullptr;
    }

    // Rewrites an entry that still carries former numbers under those in force.
    void update(Entry& entry, Now now) noexcept {
        if (stale_) [[unlikely]] {
            update_slow(entry, now);
        }
    }
    // Prefetches what update() reads of the entry's limit right after a change, and what
    // forget_if_left() reads.
    [[gnu::always_inline]] void ask_for_change(const Entry& entry) const noexcept {
        if (entry.slot() < rows_.size()) {
            prefetch0(&rows_[entry.slot()].latest);
        }
    }
    [[gnu::always_inline]] void ask_for_row(const Entry& entry) const noexcept {
        if (entry.slot() < rows_.size()) {
            prefetch0(&rows_[entry.slot()]);
            prefetch0(&live_[entry.slot()]);
        }
    }
    // True if entries may carry former numbers: from a change of numbers until settled().
    [[nodiscard]] bool stale() const noexcept { return stale_; }
    void settled() noexcept { stale_ = false; }
    // How often numbers have changed, as far as this core has adopted it.
    [[nodiscard]] std::uint64_t changes() const noexcept { return recovery_log_->changes.value(); }

    // Empties an entry whose bucket equals a fresh one. False: it does not, or it is held, or what
    // had been spent of its lease would be lost.
    [[nodiscard]] bool forget_if_idle(Entry& entry, Now now) noexcept {
        return entry.idle(now.at) && forget_slow(entry, now);
    }
    // The same where the place is not needed: a key that has just become idle may return.
    void forget_if_left(Entry& entry, Now now) noexcept {
        if (entry.idle(now.at) &&
            (entry.slot() >= rows_.size() || entry.idle(now.at - rows_[entry.slot()].linger))) {
            (void)forget_slow(entry, now);
        }
    }

    // The state that an entry holds, and a new one for it under the same numbers.
    [[nodiscard]] Cell cell_of(const Entry& entry) const noexcept {
        return entry.has_own_numbers() ? own_cell(entry) : entry.cell();
    }
    void write(Entry& entry, const Cell& cell, Now now) noexcept {
        if (entry.has_own_numbers()) [[unlikely]] {
            write_own(entry, cell, now);
        } else {
            entry.write(cell);
        }
    }

    // For a limit of which keys may have other numbers: brings an entry of aggregation level 0
    // under those that its key has now. What was used until the change is read under the old ones.
    // False: the pool has no line for it, and nothing has changed.
    [[nodiscard]] bool bring_under(Entry& entry, const OwnNumbers& own, Now now) noexcept;
    // The same of a bucket that has just been filed: what it owes, it owes now.
    [[nodiscard]] bool bring_new_under(Entry& entry, const OwnNumbers& own, Now now) noexcept;

    // The units that an entry of another table has used, of the limits that are known here; `pool`
    // is that table's. Its limit's numbers may have changed since, and so may its key's own: those
    // that count now are `present`, where they are known.
    [[nodiscard]] Units used_of(const Entry& entry, const LinePool& pool, Now now,
                                const AnyLimit* present = nullptr) const noexcept;
    [[nodiscard]] Units used_of(const Entry& entry, const RemoteLines& lines,
                                Now now) const noexcept;
    // The instant from which an entry of any table equals a fresh one: of token and leaky buckets
    // under the numbers in force, of others as the entry has it. All that says in how long a key is
    // fresh asks here.
    [[nodiscard]] Instant fresh_from_of(const Entry& entry) const noexcept;
    // The same of any algorithm; `pool` is that table's.
    [[nodiscard]] Instant fresh_from_of(const Entry& entry, const LinePool& pool) const noexcept;
    // The colour meter of an entry of another table, under the numbers in force; nullopt: it is
    // none, or of a wider key.
    [[nodiscard]] std::optional<ColorMeter> meter_of(const Entry& entry,
                                                     const LinePool& pool) const noexcept;
    [[nodiscard]] std::optional<ColorMeter> meter_of(const Entry& entry,
                                                     const RemoteLines& lines) const noexcept;
    // The use of a token or leaky bucket without numbers of its own, exactly; nullopt: of any
    // other.
    [[nodiscard]] std::optional<Gcra> bucket_of(const Entry& entry) const noexcept;

    // Empties an entry that is not held, with any debt: its key begins anew.
    void forget(Entry& entry) noexcept { evict(entry); }
    // Gives some lines back of buckets that have gone with many connections open.
    void clear_closed() noexcept {
        if (pool_.index().to_clear != kNoLine) [[unlikely]] {
            OpenConnections::clear_some(pool_, kClearedLines);
        }
    }

    // An entry of the limit was filed, whose bucket took so many lines of the pool.
    void came(LimitSlot slot, std::size_t lines = 0) noexcept {
        live_[slot].add(1);
        if (lines != 0) [[unlikely]] {
            lines_[slot] += lines;
        }
        if (slot < groups_.size()) [[unlikely]] {
            ++live_in_group_[groups_[slot]];
            lines_in_group_[groups_[slot]] += lines;
        }
    }

    // A line of the pool is kept for each of so many places for parents, and for the whole-rule
    // bucket of each limit in force that coarsens; those that have theirs are told by
    // parent_took_line(), and counted out as they go.
    void keep_lines_for_parents(std::size_t places) noexcept {
        parent_places_ = places;
        keep_lines();
    }
    void parent_took_line() noexcept {
        ++parent_lines_;
        keep_lines();
    }
    // True if the buckets of a limit have a line in the pool.
    [[nodiscard]] static bool is_pooled(const SlotRow& row) noexcept {
        return row.limit != nullptr && !row.in_entry;
    }

private:
    // In a burst: each of them was a packet's work to take.
    static constexpr unsigned kClearedLines = 64;

    [[nodiscard]] Units used_in(const Entry& entry, const auto& pool, Now now,
                                const AnyLimit* present) const noexcept;
    [[nodiscard]] Units used_of_days(const Entry& entry, const AnyLimit& numbers, const auto& pool,
                                     Now now) const noexcept;
    [[nodiscard]] Units used_of_own(const OwnBucket& bucket, const SlotRow& row, Now now,
                                    const AnyLimit* present) const noexcept;
    // The entry's debt has been charged elsewhere (end_if_same()), whatever its line says.
    [[nodiscard]] static bool is_over(const Entry& entry) noexcept {
        return entry.fresh_from() == Instant{};
    }
    // True if the instant of an entry, of a limit that is known, is that under the numbers in
    // force.
    [[nodiscard]] bool tells_when_fresh(const Entry& entry) const noexcept;
    [[nodiscard]] std::optional<ColorMeter> meter_in(const Entry& entry,
                                                     const auto& pool) const noexcept;
    [[nodiscard]] Cell own_cell(const Entry& entry) const noexcept;
    void write_own(Entry& entry, const Cell& cell, Now now) noexcept;
    void give_up_own(Entry& entry, const Limit& base, std::uint8_t version, Now now) noexcept;
    [[nodiscard]] bool take_own(Entry& entry, const OwnNumbers& own, Instant changed,
                                Now now) noexcept;
    void note_forgiven(bool forgiven) noexcept { live_[kSlots + 1].add(forgiven ? 1 : 0); }
    // A bucket that comes under other numbers with the set in force.
    void forgive_own(Gcra& bucket, const Limit& limit, LimitSlot slot, Instant changed) noexcept;
    [[nodiscard]] bool is_forgiven(const Entry& entry) const noexcept;
    [[nodiscard]] Instant changed_at(const OwnBucket& bucket, Now now) const noexcept;
    [[nodiscard]] bool forgive_windows(const Entry& entry, Cell& cell, const AnyLimit& numbers,
                                       const OwnCounts& own, Now then) noexcept;
    void update_slow(Entry& entry, Now now) noexcept;
    [[gnu::noinline]] void update_rare_slow(Entry& entry, Now now) noexcept;
    [[nodiscard]] bool update_latest(Entry& entry) noexcept;
    void renumber_entry(Entry& entry, const SlotRow& row, Now now) noexcept;
    template <typename Convert>
    void follow_changes(Stamp stamp, const SlotRow& row, Convert&& convert) const noexcept;
    [[nodiscard]] bool is_leased(const Entry& entry) const noexcept {
        return entry.lease() != 0 && entry.slot() < rows_.size() && rows_[entry.slot()].leases &&
               entry.stamp().aggregation_level == 0 && !entry.has_own_numbers();
    }
    [[nodiscard]] bool forget_slow(Entry& entry, Now now) noexcept;
    void evict(Entry& entry) noexcept;
    void keep_lines() noexcept;
    // At most half of the pool: keys have lines too.
    [[nodiscard]] std::size_t lines_promised() const noexcept {
        return std::min(parent_places_ + rule_places_, pool_.size() / 2);
    }
    void gave_back(LimitSlot slot, std::size_t lines) noexcept;

    std::span<const SlotRow> rows_;
    std::span<const ShareGroup> groups_;
    std::array<std::uint64_t, kMostShareGroups + 1> live_in_group_{};
    std::array<std::uint64_t, kMostShareGroups + 1> lines_in_group_{};
    LazyArray<std::uint64_t> lines_;  // of the pool, by slot
    LazyArray<Counter> live_;         // by slot; behind them what has gone, and what was forgiven
    LinePool pool_;
    std::unique_ptr<RecoveryLog> own_recovery_log_;  // nullptr: they lie beside the tables
    RecoveryLog* recovery_log_;
    std::size_t parent_places_ = 0;
    std::size_t rule_places_ = 0;   // limits that coarsen and have lines
    std::size_t parent_lines_ = 0;  // that parents have
    Instant adopted_{};             // the set in force
    UtcSteps utc_steps_;
    std::uint32_t override_generation_ = 0;
    bool stale_ = false;
};

}  // namespace sluice
