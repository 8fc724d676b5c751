#include "lib/engine/check/shared_charge.hpp"

#include "lib/bucket/meter/any_meter.hpp"
#include "lib/bucket/meter/bucket_in.hpp"
#include "lib/bucket/meter/lifetime.hpp"
#include "lib/bucket/table/own_bucket.hpp"
#include "lib/engine/check/ask_bucket.hpp"
#include "lib/engine/check/on_full.hpp"

#include <algorithm>

namespace sluice {
namespace {

// The account to charge, as the key's owner knows it. `check.key` is that of the entry, also where
// it stands for a wider key. Of windows, the one that a charge would be counted in now.
Account account_of(const LimitCheck& check, const CheckContext& context) noexcept {
    Account account{check.key.hash, check.entry->slot(), check.entry->stamp().aggregation_level};
    if (windows_counted(*check.numbers) != 0) {
        const LimitRegistry& registry = context.core.buckets.registry;
        account.turn = turn_of(
            counts_of(check.entry->cell(), *check.numbers, registry.pool(), context.now).epoch);
    }
    return account;
}

std::uint64_t max_unsynced(const LimitCheck& check, const Account& account,
                           const CheckContext& context) noexcept {
    return context.core.ledger->bound_of(
        account, context.core.buckets.registry.row(check.entry->slot()).max_unsynced);
}

// A box's share of a limit whose store is away: the copy of the whole bucket is charged for all
// boxes, so what the key owes stays owed. A cost that is more than the burst then is admitted by a
// bucket that owes nothing, and keeps it for as long as all boxes together would have to wait.
bool has_share(const LimitCheck& check, Units units, std::uint32_t times,
               const CheckContext& context) noexcept {
    const Limit* gcra = gcra_of(*check.numbers);
    const LimitRegistry& registry = context.core.buckets.registry;
    const Cell cell = registry.cell_of(*check.entry);
    if (gcra == nullptr) {
        const std::uint64_t left =
            remaining(cell, *check.numbers, registry.pool(), context.now).count();
        const std::uint64_t most = most_of(*check.numbers).count();
        const std::uint64_t asked = units.count() * times;
        return asked <= left || (left == most && units == check.cost && asked > most);
    }
    const std::uint64_t debt = debt_of(bucket_in(cell, *gcra), *gcra, context.now.at);
    const Wide asked = static_cast<Wide>(units.count()) * times * gcra->period();
    return asked + debt <= gcra->full() ||
           (debt == 0 && units == check.cost && asked > gcra->full());
}

// By `owner_down`, or by the box's share, for whom no credit is left.
Conformance judge_without_store(LimitCheck& check, Units units,
                                const CheckContext& context) noexcept {
    Ledger& ledger = *context.core.ledger;
    const std::uint32_t times = ledger.times_without_credit(check.entry->slot());
    const auto say = [&](LedgerEvent event, Conformance conformance) {
        if (!context.ask.is_dry_run()) {
            ledger.count(event);
        }
        return conformance;
    };
    if (times == Ledger::kClosed) {
        return say(LedgerEvent::DownClosed, Conformance::Red);
    }
    if (times > 1 && !has_share(check, units, times, context)) {
        return say(LedgerEvent::LocalShareRefused, Conformance::Red);
    }
    check.without_store = true;
    return say(times > 1    ? LedgerEvent::LocalShare
               : times == 1 ? LedgerEvent::LastKnown
                            : LedgerEvent::DownOpen,
               check.conformance);
}

// Charges the copy. A bucket's charge is noted as its local share, since the store will be told
// what is still owed; of a window it will be told all that was spent, while that counts.
void commit_without_store(const LimitCheck& check, const Account& account,
                          const CheckContext& context) noexcept {
    LimitRegistry& registry = context.core.buckets.registry;
    const Limit* gcra = gcra_of(*check.numbers);
    const std::uint32_t times = context.core.ledger->times_without_credit(account.slot);
    if (times == 0 || times == Ledger::kClosed) {
        return;  // open; or the store has gone since the packet was judged
    }
    Cell cell = registry.cell_of(*check.entry);
    if (gcra == nullptr) {
        context.core.ledger->share_windows_locally(
            account, check.cost.count(),
            bucket_state_of(cell, *check.numbers, registry.pool(), context.now),
            context.now.at + longest_debt(*check.numbers), context.now);
        charge(cell, *check.numbers, registry.pool(), context.now,
               {Units{check.cost.count() * times}});
        registry.write(*check.entry, cell, context.now);
        return;
    }
    BucketState copy = bucket_state_of(cell, *check.numbers, registry.pool(), context.now);
    copy.version = check.entry->stamp().version;
    const Gcra after = context.core.ledger->share_locally(account, {check.cost.count(), times},
                                                          copy, *gcra, context.now);
    registry.write(*check.entry, {after.fresh_from, after.below}, context.now);
}

// The chargeable part of a refused cost: no more than there is, here and of what may be unsynced.
// Checks are committed in their order, so each later one that was promised a record still has it.
Units what_fits(const LimitCheck& check, const Account& account,
                const CheckContext& context) noexcept {
    const Ledger& ledger = *context.core.ledger;
    const LimitRegistry& registry = context.core.buckets.registry;
    const Units fits = std::min(
        check.cost,
        remaining(registry.cell_of(*check.entry), *check.numbers, registry.pool(), context.now));
    const bool told = ledger.owns(account) ||
                      ledger.credit(account, fits.count(), max_unsynced(check, account, context)) ==
                          Credit::Enough;
    return told ? fits : Units{0};
}

}  // namespace

void end_lease(Entry& entry, const TableKey& key, CoreState& core) noexcept {
    const LimitRegistry& registry = core.buckets.registry;
    if (core.ledger != nullptr && registry.row(slot_of(key)).leases &&
        entry.stamp().aggregation_level == 0 && !entry.has_own_numbers()) {
        core.ledger->give_back({key.hash, slot_of(key), 0}, entry.lease());
        entry.set_lease(0);
    }
}

Conformance ask_ledger(LimitCheck& check, const LoadedRule& rule,
                       const CheckContext& context) noexcept {
    if (check.entry == nullptr || !is_shared(*check.entry, context)) {
        return check.conformance;
    }
    Ledger& ledger = *context.core.ledger;
    const Account account = account_of(check, context);
    if (ledger.owns(account)) {
        return check.conformance;
    }
    const bool is_dry_run = context.ask.is_dry_run();
    if (!is_dry_run) {
        end_lease(*check.entry, check.key, context.core);
    }
    const Units units = check.cost + charged_before(check, context).all();
    const Credit credit = ledger.credit(account, units.count(),
                                        max_unsynced(check, account, context), check.shared_before);
    if (credit == Credit::Enough) [[likely]] {
        return check.conformance;
    }
    if (ledger.is_cut_off(account, credit)) {
        return judge_without_store(check, units, context);
    }
    const bool open = rule.on_full == OnFull::Open;
    if (!is_dry_run) {
        ledger.count(credit);
    }
    count_event(context, open ? TableEvent::CreditOpen : TableEvent::CreditClosed);
    return open ? check.conformance : Conformance::NoRoom;
}

bool can_note(const LimitCheck& check, const CheckContext& context) noexcept {
    const Ledger& ledger = *context.core.ledger;
    const Account account = account_of(check, context);
    return ledger.owns(account) || ledger.credit(account, check.cost.count(), Ledger::kMostUnsynced,
                                                 check.shared_before) == Credit::Enough;
}

void commit_shared(const LimitCheck& check, const CheckContext& context, bool rejected) noexcept {
    Entry& entry = *check.entry;
    LimitRegistry& registry = context.core.buckets.registry;
    const Account account = account_of(check, context);
    end_lease(*check.entry, check.key, context.core);
    if (check.without_store && !rejected) [[unlikely]] {
        commit_without_store(check, account, context);
        return;
    }
    const Units units = rejected ? what_fits(check, account, context) : check.cost;
    if (units == Units{0}) {
        return;
    }
    Ledger& ledger = *context.core.ledger;
    Cell cell = registry.cell_of(entry);
    const Due due = due_of(cell, *check.numbers, registry.pool(), context.now, units);
    const std::uint32_t record =
        ledger.owns(account) ? kNoRecord : ledger.note(account, units.count(), context.now, due);
    if (const Limit* gcra = gcra_of(*check.numbers)) [[likely]] {
        Gcra bucket = bucket_in(cell, *gcra);
        charge(bucket, *gcra, context.now.at, units);
        cell = {bucket.fresh_from, bucket.below};
    } else {
        charge(cell, *check.numbers, registry.pool(), context.now, {units});
        if (record == kNoRecord && !ledger.owns(account)) [[unlikely]] {
            disown(cell, *check.numbers, registry.pool(), units);
        }
    }
    registry.write(entry, cell, context.now);
    if (record != kNoRecord) {
        BucketState copy = bucket_state_of(cell, *check.numbers, registry.pool(), context.now);
        copy.version = entry.stamp().version;
        ledger.send_if_much(record, max_unsynced(check, account, context), copy, context.now);
    }
}

}  // namespace sluice
