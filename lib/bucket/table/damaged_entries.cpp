#include "lib/bucket/table/damaged_entries.hpp"

#include "lib/base/longest_delay.hpp"
#include "lib/bucket/meter/any_meter.hpp"
#include "lib/bucket/meter/lifetime.hpp"

#include <algorithm>

namespace sluice {
namespace {

// Debts of a limit that workers share may be longer than its longest by what the others had not
// been told, which is less than half of it; those of one that packets wait for, by their delay.
constexpr int kMostDebts = 2;

// Units used before numbers were lowered are owed as long as that takes.
Nanoseconds longest_of(const SlotRow& row) noexcept {
    Nanoseconds longest{0};
    const Units used{row.latest.lowered ? kMostCount : 0};
    const auto add = [&](std::span<const AnyLimit> limits) {
        for (const AnyLimit& limit : limits) {
            longest = std::max(longest, longest_debt(limit, used));
        }
    };
    add({row.limit, 1});
    add(row.coarser);
    for (const PreviousNumbers& previous : row.previous) {
        add({&previous.limit, 1});
        add(previous.coarser);
    }
    return longest * kMostDebts + kLongestDelay;
}

Nanoseconds longest_of(const Limit& own) noexcept {
    return longest_debt(TokenBucketLimit{own}) * kMostDebts + kLongestDelay;
}

bool is_of_clock(const AnyLimit& limit) noexcept {
    const auto* fixed = std::get_if<FixedWindowLimit>(&limit);
    const auto* sliding = std::get_if<SlidingWindowLimit>(&limit);
    return std::holds_alternative<DayWindowLimit>(limit) ||
           (fixed != nullptr && fixed->is_by_utc()) || (sliding != nullptr && sliding->is_by_utc());
}

}  // namespace

const AnyLimit* EntrySense::numbers(const Entry& entry) const noexcept {
    const bool in_force = !entry.has_own_numbers() && entry.stamp().version == row.version;
    return in_force ? numbers_at(*row.limit, row.coarser, entry.stamp().aggregation_level)
                    : nullptr;
}

bool EntrySense::allows(const Entry& entry, EntryPlace place) const noexcept {
    const Stamp stamp = entry.stamp();
    const bool own = entry.has_own_numbers();
    const bool of_place =
        place == EntryPlace::Rule || (place == EntryPlace::Keys) == (stamp.aggregation_level == 0);
    const bool of_limit = own ? gcra_of(*row.limit) != nullptr && stamp.aggregation_level == 0
                              : numbers_of_version(row, stamp.version) != nullptr &&
                                    (times || stamp.version == row.version);
    if (!of_place || !of_limit || entry.fresh_from() < Instant{}) {
        return false;
    }
    // A ban keeps its end when the numbers change, and own numbers say more than the limit.
    return own || algorithm_of(*row.limit) == Algorithm::Penalty ||
           entry.fresh_from() <= now.at + longest_of(row);
}

bool EntrySense::allows_state(const Entry& entry, const LinePool& pool) const noexcept {
    const Cell cell = entry.cell();
    if (entry.has_own_numbers()) {
        const OwnBucket& bucket = pool.at<OwnBucket>(cell.rest);
        const Result<Limit> own = bucket.checked_limit();
        return own && bucket.state.below < own->parts() &&
               bucket.state.fresh_from <= now.at + longest_of(*own) &&
               cell.fresh_from <= now.at + longest_of(*own) + longest_of(row);
    }
    const AnyLimit* limit = numbers(entry);
    if (limit == nullptr || (algorithm_of(*limit) == Algorithm::Penalty && cell.rest == kNoLine)) {
        return true;
    }
    if (const Limit* gcra = gcra_of(*limit)) {
        return gcra->parts() == 1 || cell.rest < gcra->parts();
    }
    const Instant fresh = fresh_from(cell, *limit, pool, now);
    // The wall clock may have been set since, and of copies the owner's word counts.
    const bool nothing_used = fresh <= now.at && cell.fresh_from > now.at;
    return fresh <= now.at + longest_of(row) &&
           (!nothing_used || is_of_clock(*limit) || row.max_unsynced != 0);
}

std::uint64_t DamagedEntries::charge_fully() {
    // First all that give back: what they had may be needed.
    for (const Damaged& damaged : found_) {
        give_back_lines(damaged);
    }
    std::uint64_t charged = 0;
    for (const Damaged& damaged : found_) {
        charged += charge_fully(damaged) ? 1 : 0;
    }
    return charged;
}

void DamagedEntries::give_back_lines(const Damaged& damaged) noexcept {
    if (damaged.lines == Lines::Lost) {
        return;
    }
    const Cell cell = damaged.entry->cell();
    LinePool& pool = store_.registry.pool();
    if (damaged.entry->has_own_numbers()) {
        pool.give_back(cell.rest);
    } else {
        close_bucket(cell, *rows_[damaged.entry->slot()].limit, pool);
    }
}

bool DamagedEntries::charge_fully(const Damaged& damaged) noexcept {
    Entry& entry = *damaged.entry;
    const LimitSlot slot = entry.slot();
    const SlotRow& row = rows_[slot];
    const auto last = static_cast<std::uint8_t>(row.coarser.size());
    const std::uint8_t level =
        damaged.place == EntryPlace::Keys ? std::uint8_t{0}
        : damaged.place == EntryPlace::Rule
            ? last
            : std::max<std::uint8_t>(std::min(entry.stamp().aggregation_level, last), 1);
    const AnyLimit* at_level = numbers_at(*row.limit, row.coarser, level);
    const AnyLimit& limit = at_level == nullptr ? *row.limit : *at_level;
    LinePool& pool = store_.registry.pool();
    const std::uint64_t slot_and_tag = entry.slot_and_tag();
    Cell cell;
    entry.clear();
    if (const auto* penalty = std::get_if<PenaltyLimit>(&limit)) {
        cell = {now_.at + Nanoseconds{penalty->lasts}, kNoLine};
    } else {
        // No debt is lost for lines that are kept.
        const LinePool::KeptLines kept{pool};
        if (!open_bucket(cell, limit, pool, GroupKey{}, now_)) {
            return false;
        }
        leave_at_most(cell, limit, pool, now_, Units{0});
    }
    entry.file(cell, slot_and_tag, {row.version, level});
    entry.release();
    store_.registry.came(slot);
    if (level != 0) {
        store_.note_parent(entry);
        if (LimitRegistry::is_pooled(row)) {
            store_.registry.parent_took_line();
        }
    }
    return true;
}

}  // namespace sluice
