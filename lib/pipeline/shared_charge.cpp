#include "lib/pipeline/shared_charge.hpp"

#include "lib/meter/any_meter.hpp"
#include "lib/meter/bucket_in.hpp"
#include "lib/meter/own_bucket.hpp"

#include <algorithm>

namespace sluice {
namespace {

// What is charged, and what the key's owner knows it by. `look.key` is that of the entry, also
// where it stands for a wider key. Of windows, the one that a charge would be counted in now.
Account account_of(const Look& look, const Judging& judging) noexcept {
    Account account{look.key.hash, look.entry->slot(), look.entry->stamp().step};
    if (windows_counted(*look.numbers) != 0) {
        const Tenants& tenants = judging.core.buckets.tenants;
        account.turn = turn_of(
            counts_of(look.entry->cell(), *look.numbers, tenants.pool(), judging.now).epoch);
    }
    return account;
}

std::uint64_t max_unsynced(const Look& look, const Judging& judging) noexcept {
    return judging.core.buckets.tenants.row(look.entry->slot()).max_unsynced;
}

// Of what was refused: no more than there is, here and of what may be unsynced.
Units what_fits(const Look& look, const Account& account, const Judging& judging) noexcept {
    const Ledger& ledger = *judging.core.ledger;
    const Tenants& tenants = judging.core.buckets.tenants;
    const Units fits = std::min(look.cost, remaining(tenants.cell_of(*look.entry), *look.numbers,
                                                     tenants.pool(), judging.now));
    const bool told =
        ledger.owns(account) ||
        ledger.credit(account, fits.count(), max_unsynced(look, judging)) == Credit::Enough;
    return told ? fits : Units{0};
}

}  // namespace

void end_lease(Entry& entry, const FiledKey& key, CoreState& core) noexcept {
    const Tenants& tenants = core.buckets.tenants;
    if (core.ledger != nullptr && tenants.row(slot_of(key)).leases && entry.stamp().step == 0 &&
        !entry.has_own_numbers()) {
        core.ledger->give_back({key.hash, slot_of(key), 0}, entry.lease());
        entry.set_lease(0);
    }
}

Judgement ask_ledger(const Look& look, const LoadedRule& rule, const Judging& judging) noexcept {
    if (look.entry == nullptr || !is_shared(*look.entry, judging)) {
        return look.judgement;
    }
    Ledger& ledger = *judging.core.ledger;
    const Account account = account_of(look, judging);
    if (ledger.owns(account)) {
        return look.judgement;
    }
    end_lease(*look.entry, look.key, judging.core);
    const Credit credit = ledger.credit(account, look.cost.count(), max_unsynced(look, judging));
    if (credit == Credit::Enough) [[likely]] {
        return look.judgement;
    }
    ledger.count(credit);
    const bool open = rule.on_full == OnFull::Open;
    const TableEvent event = open ? TableEvent::CreditOpen : TableEvent::CreditClosed;
    judging.core.counters.by_table_event[static_cast<std::size_t>(event)].add(1);
    return open ? look.judgement : Judgement::NoRoom;
}

bool can_note(const Look& look, const Judging& judging) noexcept {
    const Ledger& ledger = *judging.core.ledger;
    const Account account = account_of(look, judging);
    return ledger.owns(account) ||
           ledger.credit(account, look.cost.count(), Ledger::kMostUnsynced) == Credit::Enough;
}

void settle_shared(const Look& look, const Judging& judging, bool rejected) noexcept {
    Entry& entry = *look.entry;
    Tenants& tenants = judging.core.buckets.tenants;
    const Account account = account_of(look, judging);
    end_lease(*look.entry, look.key, judging.core);
    const Units units = rejected ? what_fits(look, account, judging) : look.cost;
    if (units == Units{0}) {
        return;
    }
    Ledger& ledger = *judging.core.ledger;
    Cell cell = tenants.cell_of(entry);
    const Due due = due_of(cell, *look.numbers, tenants.pool(), judging.now, units);
    const std::uint32_t record =
        ledger.owns(account) ? kNoRecord : ledger.note(account, units.count(), judging.now, due);
    if (const Limit* gcra = gcra_of(*look.numbers)) [[likely]] {
        Gcra bucket = bucket_in(cell, *gcra);
        charge(bucket, *gcra, judging.now.at, units);
        cell = {bucket.fresh_from, bucket.below};
    } else {
        charge(cell, *look.numbers, tenants.pool(), judging.now, {units});
        if (record == kNoRecord && !ledger.owns(account)) [[unlikely]] {
            disown(cell, *look.numbers, tenants.pool(), units);
        }
    }
    tenants.write(entry, cell, judging.now);
    if (record != kNoRecord) {
        Stand copy = stand_of(cell, *look.numbers, tenants.pool(), judging.now);
        copy.version = entry.stamp().version;
        ledger.send_if_much(record, max_unsynced(look, judging), copy, judging.now);
    }
}

}  // namespace sluice
