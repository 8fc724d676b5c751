#include "lib/ledger/bucket_books.hpp"

#include "lib/ledger/stand.hpp"

#include <algorithm>

namespace sluice {
namespace {

Gcra bucket_in(const Entry& entry) noexcept {
    const Cell cell = entry.cell();
    return {cell.fresh_from, cell.rest};
}

// The last step of a limit that coarsens is the bucket of the whole rule.
bool is_rule_step(const SlotRow& row, std::uint8_t step) noexcept {
    return step != 0 && step == row.coarser.size();
}

}  // namespace

BucketBooks::BucketBooks(BucketStore& store)
    : store_{store}, worst_{std::make_unique<Counter[]>(kSlots)} {}

// nullptr: it is not shared, or not under the rules in force.
const Limit* BucketBooks::limit_of(const Account& account) const noexcept {
    if (!store_.tenants.knows(account.slot)) {
        return nullptr;
    }
    const SlotRow& row = store_.tenants.row(account.slot);
    const AnyLimit* numbers = numbers_at(*row.limit, row.coarser, account.step);
    return row.max_unsynced == 0 || numbers == nullptr ? nullptr : gcra_of(*numbers);
}

Entry* BucketBooks::find(const Account& account, Now now) noexcept {
    Entry* entry = nullptr;
    if (account.step == 0) {
        entry = store_.keys.find(account.filed());
    } else if (is_rule_step(store_.tenants.row(account.slot), account.step)) {
        Entry& whole = store_.rule_entry(account.slot);
        entry = whole.empty() ? nullptr : &whole;
    } else {
        entry = store_.parents.find(account.filed());
    }
    if (entry != nullptr) {
        store_.tenants.update(*entry, now);
        if (entry->has_own_numbers()) {
            (void)store_.tenants.bring_under(*entry, {}, now);
        }
    }
    return entry;
}

// A fresh bucket for a key that has none here.
Entry* BucketBooks::place(const Account& account, Now now) noexcept {
    const SlotRow& row = store_.tenants.row(account.slot);
    Entry* entry = nullptr;
    if (account.step == 0) {
        entry = store_.keys.make_place(account.filed(), store_.tenants, now);
    } else if (is_rule_step(row, account.step)) {
        entry = &store_.rule_entry(account.slot);
    } else {
        entry = store_.parents.make_place(account.filed(), store_.tenants, now);
    }
    if (entry != nullptr) {
        entry->file({now.at, 0}, account.filed().filed, {row.version, account.step});
        entry->release();
        store_.tenants.came(account.slot);
    }
    return entry;
}

void BucketBooks::write(Entry& entry, const Gcra& bucket, Now /*now*/) noexcept {
    entry.write({bucket.fresh_from, bucket.below});
    if (entry.stamp().step != 0) {
        store_.note_parent(entry);
    }
}

Stand BucketBooks::copy_of(const Account& account, Now now) noexcept {
    if (limit_of(account) == nullptr) {
        return {};
    }
    const Entry* entry = find(account, now);
    return {entry == nullptr ? Gcra{} : bucket_in(*entry),
            store_.tenants.row(account.slot).version};
}

bool BucketBooks::apply(const Amount& amount, Now now, Stand& told) noexcept {
    const Limit* limit = limit_of(amount.account);
    if (limit == nullptr) {
        return false;
    }
    Entry* entry = find(amount.account, now);
    if (entry == nullptr) {
        entry = place(amount.account, now);
    }
    if (entry == nullptr) {
        return false;
    }
    const Gcra total = charged(bucket_in(*entry), *limit, {amount.at, amount.units}, now.at);
    write(*entry, total, now);
    told = {total, store_.tenants.row(amount.account.slot).version};
    Counter& worst = worst_[amount.account.slot];
    if (const std::uint64_t excess = excess_of(total, *limit, now.at); excess > worst.read()) {
        worst.set(excess);
    }
    return true;
}

bool BucketBooks::raise(const Account& account, const Stand& total, std::uint64_t units,
                        Now now) noexcept {
    const Limit* limit = limit_of(account);
    if (limit == nullptr || total.version != store_.tenants.row(account.slot).version) {
        return false;
    }
    // What is owed by then, whether that is still to come or has passed.
    const Instant just_before = total.bucket.fresh_from - Nanoseconds{1};
    const Gcra owed = charged(total.bucket, *limit, {std::min(now.at, just_before), units}, now.at);
    if (owed.fresh_from <= now.at) {
        return true;
    }
    Entry* entry = find(account, now);
    if (entry == nullptr) {
        entry = place(account, now);
    }
    if (entry == nullptr) {
        return false;
    }
    if (owes_more(owed, bucket_in(*entry))) {
        write(*entry, owed, now);
    }
    return true;
}

}  // namespace sluice
