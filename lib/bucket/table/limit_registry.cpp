#include "lib/bucket/table/limit_registry.hpp"

#include "lib/bucket/meter/bucket_in.hpp"
#include "lib/bucket/table/number_history.hpp"
#include "lib/bucket/table/own_counts.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace sluice {

LimitRegistry::LimitRegistry(std::size_t pool_lines)
    : lines_{zeroed_array<std::uint64_t>(kSlots)},
      live_{zeroed_array<Counter>(kSlots + 2)},
      pool_{pool_lines},
      own_recovery_log_{std::make_unique<RecoveryLog>()},
      recovery_log_{own_recovery_log_.get()} {
    pool_.make_index();
}

LimitRegistry::LimitRegistry(RecoveryLog& recovery_log, LinePool pool)
    : lines_{zeroed_array<std::uint64_t>(kSlots)},
      live_{zeroed_array<Counter>(kSlots + 2)},
      pool_{std::move(pool)},
      recovery_log_{&recovery_log} {
    pool_.make_index();
}

void LimitRegistry::recover(Instant now) noexcept {
    stale_ = true;
    if (!recovery_log_->is_whole()) {
        for (ChangeTime& time : recovery_log_->changed) {
            time.set(now);
        }
        recovery_log_->changes.set(0);
    }
}

void LimitRegistry::go_on_from(const RecoveryLog& earlier) noexcept {
    if (changes() == 0) {
        recovery_log_->changed = earlier.changed;
        recovery_log_->changes = earlier.changes;
    }
}

// The instants come before the number of changes: a process that ends in between adopts them again.
void LimitRegistry::adopt(std::span<const SlotRow> rows, std::uint64_t changes,
                          Instant now) noexcept {
    rows_ = rows;
    adopted_ = now;
    rule_places_ =
        static_cast<std::size_t>(std::count_if(rows.begin(), rows.end(), [](const SlotRow& row) {
            return is_pooled(row) && !row.coarser.empty();
        }));
    keep_lines();
    override_generation_ = override_generation_ % kMaxOverrideGeneration + 1;
    ChangeTimes& changed = recovery_log_->changed;
    // Changes that came and went between two bursts were never judged by.
    const std::uint64_t missed = std::min<std::uint64_t>(changes - this->changes(), changed.size());
    for (std::uint64_t i = 0; i < missed; ++i) {
        changed[(changes - i) % changed.size()].set(now);
    }
    stale_ = stale_ || missed != 0;
    recovery_log_->changes.set(changes);
}

void LimitRegistry::adopt_groups(std::span<const ShareGroup> groups) noexcept {
    groups_ = groups;
    live_in_group_ = {};
    lines_in_group_ = {};
    for (std::size_t slot = 0; slot < groups.size(); ++slot) {
        live_in_group_[groups[slot]] += live_[slot].read();
        lines_in_group_[groups[slot]] += lines_[slot];
    }
}

// The change that most entries want. False: an entry of another kind.
[[gnu::always_inline]] inline bool LimitRegistry::update_latest(Entry& entry) noexcept {
    const LatestChange& latest = rows_[entry.slot()].latest;
    const Stamp stamp = entry.stamp();
    if (latest.from == LatestChange::kNone || stamp.aggregation_level != 0) {
        return false;
    }
    if (stamp.version == latest.from) {
        const Cell cell = entry.cell();
        const Instant changed =
            recovery_log_->changed[latest.change % recovery_log_->changed.size()].at();
        // A rest that may be a lease goes on as one.
        const bool leased = latest.numbers.from_parts == 1 && latest.numbers.to_parts == 1;
        const std::uint32_t below = latest.numbers.from_parts == 1 ? 0 : cell.rest;
        const Gcra bucket = latest.numbers.of({cell.fresh_from, below}, changed);
        entry.write_under(latest.to, {bucket.fresh_from, leased ? cell.rest : bucket.below});
        return true;
    }
    return stamp.version == latest.to;
}

void LimitRegistry::update_slow(Entry& entry, Now now) noexcept {
    if (entry.slot() < rows_.size() && !update_latest(entry)) [[unlikely]] {
        update_rare_slow(entry, now);
    }
}

// Apart, so that what most entries want keeps to few registers.
void LimitRegistry::update_rare_slow(Entry& entry, Now now) noexcept {
    const LimitSlot slot = entry.slot();
    if (rows_[slot].limit == nullptr) {
        return;
    }
    if (entry.has_own_numbers()) {
        // Only its key determines its present numbers, as long as keys may have some of their own.
        if (!rows_[slot].overridden) {
            give_up_own(entry, *gcra_of(*rows_[slot].limit), rows_[slot].version, now);
        }
    } else if (entry.stamp().version != rows_[slot].version) {
        renumber_entry(entry, rows_[slot], now);
    }
}

bool LimitRegistry::forget_slow(Entry& entry, Now now) noexcept {
    if (entry.held()) {
        return false;
    }
    if (entry.empty()) {
        return true;
    }
    update(entry, now);
    if (!entry.idle(now.at) || is_leased(entry)) {
        return false;
    }
    evict(entry);
    return true;
}

void LimitRegistry::keep_lines() noexcept {
    const std::size_t promised = lines_promised();
    pool_.keep(promised - std::min(promised, parent_lines_));
}

void LimitRegistry::evict(Entry& entry) noexcept {
    const LimitSlot slot = entry.slot();
    live_[slot].set(live_[slot].read() - 1);
    if (slot < groups_.size()) [[unlikely]] {
        --live_in_group_[groups_[slot]];
    }
    live_[kSlots].add(1);
    const Cell cell = entry.cell();
    const bool own = entry.has_own_numbers();
    const bool parent = entry.stamp().aggregation_level != 0;
    const std::size_t free = pool_.free();
    // The entry first: no entry leads to a line that is free.
    entry.clear();
    keep_store_order();
    if (own) {
        pool_.give_back(cell.rest);
    } else if (slot < rows_.size() && !rows_[slot].in_entry && rows_[slot].limit != nullptr) {
        close_bucket(cell, *rows_[slot].limit, pool_);
        if (parent) {
            parent_lines_ -= parent_lines_ != 0 ? 1 : 0;
            keep_lines();
        }
    }
    if (pool_.free() != free) [[unlikely]] {
        gave_back(slot, pool_.free() - free);
    }
}

// Lines that a bucket took after it was filed, or in another process, were never counted.
void LimitRegistry::gave_back(LimitSlot slot, std::size_t lines) noexcept {
    const std::uint64_t counted = std::min<std::uint64_t>(lines, lines_[slot]);
    lines_[slot] -= counted;
    if (slot < groups_.size()) {
        lines_in_group_[groups_[slot]] -= counted;
    }
}

// Wider keys have no counts of their own.
bool LimitRegistry::forgive_windows(const Entry& entry, Cell& cell, const AnyLimit& numbers,
                                    const OwnCounts& own, Now then) noexcept {
    const Units most = entry.stamp().aggregation_level == 0 ? own.most_of(entry, most_of(numbers))
                                                            : most_of(numbers);
    return relieve(cell, with_count(numbers, most), pool_, then, kExcess);
}

void LimitRegistry::renumber_entry(Entry& entry, const SlotRow& row, Now now) noexcept {
    Cell cell = entry.cell();
    // Beside buckets in entries, only the line of a colour meter changes, and of days elsewhere.
    std::optional<EntryTransaction> transaction;
    if (algorithm_of(*row.limit) == Algorithm::ColorMeter ||
        algorithm_of(*row.limit) == Algorithm::DayWindow) {
        transaction.emplace(recovery_log_->undo, entry, cell.rest, pool_);
    }
    bool forgiven = false;
    follow_changes(entry.stamp(), row,
                   [&](const AnyLimit& from, const AnyLimit& to, const ChangeEnd& change) {
                       const Now then = now.moved_to(change.at);
                       renumber(cell, from, to, pool_, then);
                       forgiven |= change.forgiven && relieve(cell, to, pool_, then, kExcess);
                       forgiven |= change.own_counts != nullptr &&
                                   forgive_windows(entry, cell, to, *change.own_counts, then);
                   });
    note_forgiven(forgiven);
    if (gcra_of(*row.limit) != nullptr) {
        entry.write_under(row.version, cell);
    } else {
        entry.write_time(row.version, cell.fresh_from);
    }
}

Cell LimitRegistry::own_cell(const Entry& entry) const noexcept {
    const Gcra& state = pool_.at<OwnBucket>(entry.cell().rest).state;
    return {state.fresh_from, state.below};
}

void LimitRegistry::write_own(Entry& entry, const Cell& cell, Now now) noexcept {
    const PoolLine line = entry.cell().rest;
    OwnBucket& bucket = pool_.at<OwnBucket>(line);
    bucket.keep({cell.fresh_from, cell.rest});
    Instant fresh = cell.fresh_from;
    if (bucket.until != Nanoseconds::max().count()) {
        const Instant ends{Nanoseconds{bucket.until} - now.utc_ahead};
        const Limit& base = *gcra_of(*rows_[entry.slot()].limit);
        fresh = fresh_from(bucket.state, bucket.limit(), base, ends);
    }
    entry.write({fresh, line});
}

// When a bucket's own numbers ended or became others: at their end, or with the set in force.
Instant LimitRegistry::changed_at(const OwnBucket& bucket, Now now) const noexcept {
    const Nanoseconds until{bucket.until};
    return until <= now.utc() ? utc_steps_.reached(until, now) : std::min(adopted_, now.at);
}

void LimitRegistry::give_up_own(Entry& entry, const Limit& base, std::uint8_t version,
                                Now now) noexcept {
    const PoolLine line = entry.cell().rest;
    const OwnBucket& bucket = pool_.at<OwnBucket>(line);
    Gcra state = bucket.state;
    renumber(state, bucket.limit(), base, changed_at(bucket, now));
    if (Nanoseconds{bucket.until} > now.utc()) {
        forgive_own(state, base, entry.slot(), changed_at(bucket, now));
    }
    {
        const EntryTransaction change{recovery_log_->undo, entry, line, pool_};
        entry.write_time(version, state.fresh_from);
        entry.write({state.fresh_from, state.below});
    }
    pool_.give_back(line);
}

// `changed`: until when a bucket without numbers of its own is read under the limit's.
bool LimitRegistry::take_own(Entry& entry, const OwnNumbers& own, Instant changed,
                             Now now) noexcept {
    const Limit& base = *gcra_of(*rows_[entry.slot()].limit);
    const Limit& limit = *gcra_of(*own.numbers);
    PoolLine line = entry.cell().rest;
    const bool has_line = entry.has_own_numbers();
    if (has_line && pool_.at<OwnBucket>(line).has(limit) &&
        pool_.at<OwnBucket>(line).until == own.until.count()) {
        return true;
    }
    const EntryTransaction change{recovery_log_->undo, entry, has_line ? line : kNoLine, pool_};
    if (!has_line) {
        const Cell cell = entry.cell();
        line = pool_.take();
        if (line == kNoLine) {
            return false;
        }
        OwnBucket& bucket = pool_.at<OwnBucket>(line);
        bucket.state = bucket_in(cell, base);
        renumber(bucket.state, base, limit, changed);
        forgive_own(bucket.state, limit, entry.slot(), changed);
        bucket.set(limit, own.until);
        entry.write_time(kOwnNumbers, cell.fresh_from);
        entry.write({cell.fresh_from, line});
    } else {
        OwnBucket& bucket = pool_.at<OwnBucket>(line);
        if (!bucket.has(limit)) {
            renumber(bucket.state, bucket.limit(), limit, changed_at(bucket, now));
            if (Nanoseconds{bucket.until} > now.utc()) {
                forgive_own(bucket.state, limit, entry.slot(), changed_at(bucket, now));
            }
        }
        bucket.set(limit, own.until);
    }
    const Gcra state = pool_.at<OwnBucket>(line).state;
    write_own(entry, {state.fresh_from, state.below}, now);
    return true;
}

bool LimitRegistry::bring_under(Entry& entry, const OwnNumbers& own, Now now) noexcept {
    const SlotRow& row = rows_[entry.slot()];
    const Limit* base = gcra_of(*row.limit);
    if (base == nullptr) {
        Cell cell = entry.cell();
        renumber(cell, *row.limit, own.numbers != nullptr ? *own.numbers : *row.limit, pool_, now);
        entry.write(cell);
        return true;
    }
    if (own.numbers != nullptr) {
        return take_own(entry, own, std::min(adopted_, now.at), now);
    }
    if (entry.has_own_numbers()) {
        give_up_own(entry, *base, row.version, now);
    }
    return true;
}

bool LimitRegistry::bring_new_under(Entry& entry, const OwnNumbers& own, Now now) noexcept {
    const bool in_line = own.numbers != nullptr && gcra_of(*own.numbers) != nullptr;
    return in_line ? take_own(entry, own, now.at, now) : bring_under(entry, own, now);
}

}  // namespace sluice
