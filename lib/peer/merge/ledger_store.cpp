#include "lib/peer/merge/ledger_store.hpp"

#include "lib/bucket/meter/any_meter.hpp"
#include "lib/bucket/meter/bucket_in.hpp"
#include "lib/bucket/table/own_bucket.hpp"
#include "lib/bucket/table/previous_tables.hpp"
#include "lib/bucket/table/remote_debt.hpp"
#include "lib/bucket/table/store_layout.hpp"
#include "lib/peer/merge/bucket_state.hpp"

#include <algorithm>

namespace sluice {
namespace {

// The last step of a limit that coarsens is the bucket of the whole rule.
bool is_rule_level(const SlotRow& row, std::uint8_t aggregation_level) noexcept {
    return aggregation_level != 0 && aggregation_level == row.coarser.size();
}

}  // namespace

LedgerStore::LedgerStore(BucketStore& store)
    : store_{store}, worst_{zeroed_array<Counter>(kSlots)} {}

// The entry of a key whose bucket may have a lease, by the numbers it was written under, in force
// or not; nullptr: there is none.
Entry* LedgerStore::leasable(const Account& account) const noexcept {
    Entry* entry = account.aggregation_level == 0 && store_.registry.knows(account.slot)
                       ? store_.keys.find(account.table_key())
                       : nullptr;
    if (entry == nullptr || entry->has_own_numbers()) {
        return nullptr;
    }
    const SlotRow& row = store_.registry.row(account.slot);
    const AnyLimit* numbers = numbers_of_version(row, entry->stamp().version);
    const Limit* gcra = numbers == nullptr ? nullptr : gcra_of(*numbers);
    return gcra == nullptr || gcra->parts() != 1 ? nullptr : entry;
}

// Also where the limit is not shared any more: no lease must be found later without what was noted
// of it.
std::uint64_t LedgerStore::recall(const Account& account) noexcept {
    Entry* entry = leasable(account);
    if (entry == nullptr || entry->lease() == 0) {
        return 0;
    }
    const std::uint32_t lease = entry->lease();
    entry->set_lease(0);
    return lease;
}

Leasing LedgerStore::leasing(const Account& account) const noexcept {
    const Entry* entry = leasable(account);
    const SlotRow& row = store_.registry.row(account.slot);
    const bool is_current = entry != nullptr && entry->stamp().version == row.version;
    return is_current ? Leasing{row.max_unsynced, entry->fresh_from()} : Leasing{};
}

void LedgerStore::grant(const Account& account, std::uint32_t units) noexcept {
    if (Entry* entry = leasable(account)) {
        entry->set_lease(units);
    }
}

// nullptr: it is not shared, or not under the rules in force.
const AnyLimit* LedgerStore::limit_of(const Account& account) const noexcept {
    if (!store_.registry.knows(account.slot)) {
        return nullptr;
    }
    const SlotRow& row = store_.registry.row(account.slot);
    const AnyLimit* limit = numbers_at(*row.limit, row.coarser, account.aggregation_level);
    const bool merged = row.max_unsynced != 0 && limit != nullptr &&
                        (gcra_of(*limit) != nullptr || lasts_of(*limit) != 0);
    return merged ? limit : nullptr;
}

Entry* LedgerStore::find(const Account& account, Now now) noexcept {
    Entry* entry = nullptr;
    if (account.aggregation_level == 0) {
        entry = store_.keys.find(account.table_key());
    } else if (is_rule_level(store_.registry.row(account.slot), account.aggregation_level)) {
        Entry& whole = store_.rule_entry(account.slot);
        entry = whole.empty() ? nullptr : &whole;
    } else {
        entry = store_.parents.find(account.table_key());
    }
    if (entry != nullptr) {
        store_.registry.update(*entry, now);
        if (entry->has_own_numbers()) {
            (void)store_.registry.bring_under(*entry, {}, now);
        }
    }
    return entry;
}

// A place for a key that has none here.
Entry* LedgerStore::idle_place(const Account& account, Now now) noexcept {
    if (account.aggregation_level == 0) {
        return store_.keys.make_place(account.table_key(), store_.registry, now);
    }
    if (is_rule_level(store_.registry.row(account.slot), account.aggregation_level)) {
        return &store_.rule_entry(account.slot);
    }
    return store_.parents.make_place(account.table_key(), store_.registry, now);
}

// A parent has a line that was kept for it.
bool LedgerStore::open(Cell& cell, const Account& account, const AnyLimit& limit,
                       Now now) noexcept {
    LinePool& pool = store_.registry.pool();
    if (account.aggregation_level == 0) {
        return open_bucket(cell, limit, pool, GroupKey{account.hash}, now);
    }
    bool opened = false;
    {
        const LinePool::KeptLines kept{pool};
        opened = open_bucket(cell, limit, pool, GroupKey{account.hash}, now);
    }
    if (opened && lasts_of(limit) != 0) {
        store_.registry.parent_took_line();
    }
    return opened;
}

// A fresh bucket there.
Entry* LedgerStore::place(const Account& account, const AnyLimit& limit, Now now) noexcept {
    Entry* entry = idle_place(account, now);
    Cell cell;
    if (entry == nullptr || !open(cell, account, limit, now)) {
        return nullptr;
    }
    const SlotRow& row = store_.registry.row(account.slot);
    const RemoteDebt elsewhere{store_, now};
    if (elsewhere.is_possible(account.slot)) [[unlikely]] {
        const BucketAt at{account.table_key(), account.aggregation_level,
                          is_rule_level(row, account.aggregation_level)};
        elsewhere.charge_to(cell, limit, at, store_.registry.pool());
    }
    entry->file(cell, account.table_key().slot_and_tag,
                {store_.registry.row(account.slot).version, account.aggregation_level});
    entry->release();
    store_.registry.came(account.slot);
    return entry;
}

Entry* LedgerStore::find_or_place(const Account& account, const AnyLimit& limit, Now now) noexcept {
    Entry* entry = find(account, now);
    return entry != nullptr ? entry : place(account, limit, now);
}

void LedgerStore::write(Entry& entry, const Cell& cell) noexcept {
    entry.write(cell);
    if (entry.stamp().aggregation_level != 0) {
        store_.note_parent(entry);
    }
}

// Of a limit whose numbers were lowered only what an amount adds is the workers' doing.
void LedgerStore::note_excess(LimitSlot slot, std::uint64_t before, std::uint64_t after) noexcept {
    Counter& worst = worst_[slot];
    worst.set(std::max(worst.read(), after - std::min(after, before)));
}

BucketState LedgerStore::copy_of(const Account& account, Now now) noexcept {
    const AnyLimit* limit = limit_of(account);
    if (limit == nullptr) {
        return {};
    }
    BucketState state;
    if (const Entry* entry = find(account, now)) {
        state = bucket_state_of(entry->cell(), *limit, store_.registry.pool(), now);
    } else {
        state.lasts = lasts_of(*limit);
        if (state.has_counts()) {
            state.counts = fresh_counts(*limit, GroupKey{account.hash}, now);
        } else if (state.has_tally()) {
            state.tally = {};
        }
    }
    state.version = store_.registry.row(account.slot).version;
    return state;
}

bool LedgerStore::apply(const Delta& delta, Now now, BucketState& told) noexcept {
    const AnyLimit* limit = limit_of(delta.account);
    if (limit == nullptr || lasts_of(*limit) != delta.held.lasts) {
        return false;
    }
    if (delta.held.lasts != 0) {
        const bool applied = delta.held.has_tally() ? apply_tallied(delta, *limit, now)
                                                    : apply_counts(delta, *limit, now);
        told = applied ? copy_of(delta.account, now) : BucketState{};
        return applied;
    }
    Entry* entry = find_or_place(delta.account, *limit, now);
    if (entry == nullptr) {
        return false;
    }
    const Limit& gcra = *gcra_of(*limit);
    const Gcra before = bucket_in(entry->cell(), gcra);
    const Gcra total = charged(before, gcra, {delta.at, delta.units}, now.at);
    write(*entry, {total.fresh_from, total.below});
    told.bucket = total;
    told.version = store_.registry.row(delta.account.slot).version;
    told.lasts = 0;
    note_excess(delta.account.slot, is_lowered(delta.account) ? excess_of(before, gcra, now.at) : 0,
                excess_of(total, gcra, now.at));
    return true;
}

// What is over is not placed for. A bucket that is placed owes from the start what its key owes
// elsewhere, so its counts are read once it is there.
bool LedgerStore::apply_counts(const Delta& delta, const AnyLimit& limit, Now now) noexcept {
    const std::uint8_t lasts = lasts_of(limit);
    if (is_over(delta.epoch, copy_of(delta.account, now).counts, lasts)) {
        return true;
    }
    Entry* entry = find_or_place(delta.account, limit, now);
    if (entry == nullptr) {
        return false;
    }
    Cell cell = entry->cell();
    LinePool& pool = store_.registry.pool();
    const WindowCounts counts = counts_of(cell, limit, pool, now);
    const std::uint64_t before = is_lowered(delta.account) ? excess_of(cell, limit, pool, now) : 0;
    set_counts(cell, limit, pool, now, added(counts, delta.epoch, delta.units, lasts));
    write(*entry, cell);
    note_excess(delta.account.slot, before, excess_of(cell, limit, pool, now));
    return true;
}

bool LedgerStore::raise(const Account& account, const BucketState& total, const More& more,
                        Now now) noexcept {
    const AnyLimit* limit = limit_of(account);
    if (limit == nullptr || lasts_of(*limit) != total.lasts) {
        return false;
    }
    if (total.has_tally()) {
        return raise_tallied(account, {total.tally, more.current, more.newest, false}, now);
    }
    const SlotRow& row = store_.registry.row(account.slot);
    if (total.lasts != 0) {
        // Counts mean the same under any numbers, unless what was beyond them has been forgiven.
        if (total.version != row.version && is_forgiven_lately(row)) {
            return false;
        }
        return raise_counts(account, *limit,
                            {total.counts.epoch, total.counts.current + more.current,
                             total.counts.previous + more.previous},
                            now);
    }
    if (total.version != row.version) {
        return false;
    }
    // What is owed by then, whether that is still to come or has passed.
    const Limit& gcra = *gcra_of(*limit);
    const Instant just_before = total.bucket.fresh_from - Nanoseconds{1};
    const Gcra owed =
        charged(total.bucket, gcra, {std::min(now.at, just_before), more.current}, now.at);
    if (owed.fresh_from <= now.at) {
        return true;
    }
    Entry* entry = find_or_place(account, *limit, now);
    if (entry == nullptr) {
        return false;
    }
    if (owes_more(owed, bucket_in(entry->cell(), gcra))) {
        write(*entry, {owed.fresh_from, owed.below});
    }
    return true;
}

// The later window and the larger counts. A key that is not here needs no place for nothing.
bool LedgerStore::raise_counts(const Account& account, const AnyLimit& limit,
                               const WindowCounts& total, Now now) noexcept {
    Entry* entry = find(account, now);
    if (entry == nullptr) {
        const WindowCounts none = fresh_counts(limit, GroupKey{account.hash}, now);
        if (larger(none, total, lasts_of(limit)).current == 0 && total.previous == 0) {
            return true;
        }
        entry = place(account, limit, now);
    }
    if (entry == nullptr) {
        return false;
    }
    Cell cell = entry->cell();
    LinePool& pool = store_.registry.pool();
    const WindowCounts before = counts_of(cell, limit, pool, now);
    const WindowCounts counts = larger(before, total, lasts_of(limit));
    if (counts != before) {
        set_counts(cell, limit, pool, now, counts);
        write(*entry, cell);
    }
    return true;
}

bool LedgerStore::apply_tallied(const Delta& delta, const AnyLimit& limit, Now now) noexcept {
    Entry* entry = find_or_place(delta.account, limit, now);
    if (entry == nullptr) {
        return false;
    }
    Cell cell = entry->cell();
    LinePool& pool = store_.registry.pool();
    const std::uint64_t before = is_lowered(delta.account) ? excess_of(cell, limit, pool, now) : 0;
    add_tallied(cell, limit, pool, now, {delta.at, Units{delta.units}});
    write(*entry, cell);
    note_excess(delta.account.slot, before, excess_of(cell, limit, pool, now));
    return true;
}

bool LedgerStore::raise_tallied(const Account& account, const TallyTotal& to, Now now) noexcept {
    const AnyLimit* limit = limit_of(account);
    if (limit == nullptr || !is_tallied(*limit)) {
        return false;
    }
    Entry* entry = find(account, now);
    if (entry == nullptr && to.total.sum + to.more == 0) {
        return true;
    }
    entry = entry != nullptr ? entry : place(account, *limit, now);
    if (entry == nullptr) {
        return false;
    }
    Cell cell = entry->cell();
    raise_tally(cell, *limit, store_.registry.pool(), now, to);
    write(*entry, cell);
    return true;
}

std::uint64_t LedgerStore::newest(const Account& account, Now now) noexcept {
    const AnyLimit* limit = limit_of(account);
    const Entry* entry = limit == nullptr || !is_tallied(*limit) ? nullptr : find(account, now);
    return entry == nullptr ? 0 : newest_of(entry->cell(), store_.registry.pool());
}

std::size_t LedgerStore::earlier(const Account& account, std::span<SubWindow> places,
                                 Now now) noexcept {
    const AnyLimit* limit = limit_of(account);
    const Entry* entry = limit == nullptr || !is_tallied(*limit) ? nullptr : find(account, now);
    return entry == nullptr
               ? 0
               : earlier_of(entry->cell(), *limit, store_.registry.pool(), now, places);
}

void LedgerStore::move_back(const Account& account, const SubWindow& earlier, Now now) noexcept {
    const AnyLimit* limit = limit_of(account);
    const Entry* entry = limit == nullptr || !is_tallied(*limit) ? nullptr : find(account, now);
    if (entry != nullptr) {
        move_tally_back(entry->cell(), store_.registry.pool(), earlier);
    }
}

}  // namespace sluice
