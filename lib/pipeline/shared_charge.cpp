#include "lib/pipeline/shared_charge.hpp"

#include "lib/meter/own_bucket.hpp"

#include <algorithm>

namespace sluice {
namespace {

// What is charged, and what the key's owner knows it by. `look.key` is that of the entry, also
// where it stands for a wider key.
Account account_of(const Look& look) noexcept {
    return {look.key.hash, look.entry->slot(), look.entry->stamp().step};
}

std::uint64_t max_unsynced(const Look& look, const Judging& judging) noexcept {
    return judging.core.buckets.tenants.row(look.entry->slot()).max_unsynced;
}

// Of what was refused: no more than there is, here and of what may be unsynced.
Units what_fits(const Look& look, const Gcra& bucket, const Judging& judging) noexcept {
    const Ledger& ledger = *judging.core.ledger;
    const Account account = account_of(look);
    const Units fits =
        std::min(look.cost, remaining(bucket, *gcra_of(*look.numbers), judging.now.at));
    const bool told =
        ledger.owns(account) ||
        ledger.credit(account, fits.count(), max_unsynced(look, judging)) == Credit::Enough;
    return told ? fits : Units{0};
}

// False: this worker may not go so far ahead, and nothing has been done.
bool take_ahead(const PlainMatch& by, const PlainJudging& judging, Ledger& ledger) noexcept {
    Entry& entry = *by.look.entry;
    const Account account{by.look.key.hash, by.rule.slot, 0};
    if (ledger.owns(account)) {
        take_fitting(entry, *by.rule.limit, judging.now.at, by.look.cost);
        return true;
    }
    const Ledger::Ahead ahead =
        ledger.go_ahead(account, by.look.cost.count(), by.rule.max_unsynced, judging.now);
    if (ahead.record == kNoRecord) {
        return false;
    }
    take_fitting(entry, *by.rule.limit, judging.now.at, by.look.cost);
    const Cell cell = entry.cell();
    ledger.tell(ahead, account, {{cell.fresh_from, cell.rest}, by.rule.version}, judging.now);
    return true;
}

}  // namespace

bool judge_shared(Packet& packet, const Match& match, PlainJudging judging,
                  Ledger& ledger) noexcept {
    const PlainMatch by{match, judging};
    if (by.rule.max_unsynced == 0 || !by.is_at_hand(judging)) {
        return false;
    }
    if (!fits(*by.look.entry, *by.rule.limit, judging.now.at, by.look.cost)) {
        refuse(packet, match.rule, by, judging);
        return true;
    }
    if (!take_ahead(by, judging, ledger)) {
        return false;
    }
    by.counters.admitted.add(1);
    packet.decision = kWithinLimits;
    return true;
}

Judgement ask_ledger(const Look& look, const Rule& rule, const Judging& judging) noexcept {
    if (look.entry == nullptr || !is_shared(*look.entry, judging)) {
        return look.judgement;
    }
    Ledger& ledger = *judging.core.ledger;
    const Account account = account_of(look);
    if (ledger.owns(account)) {
        return look.judgement;
    }
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

void settle_shared(const Look& look, const Judging& judging, bool rejected) noexcept {
    Entry& entry = *look.entry;
    Tenants& tenants = judging.core.buckets.tenants;
    const Cell cell = tenants.cell_of(entry);
    Gcra bucket{cell.fresh_from, cell.rest};
    const Units units = rejected ? what_fits(look, bucket, judging) : look.cost;
    if (units == Units{0}) {
        return;
    }
    Ledger& ledger = *judging.core.ledger;
    const Account account = account_of(look);
    const std::uint32_t record =
        ledger.owns(account) ? kNoRecord : ledger.note(account, units.count(), judging.now);
    charge(bucket, *gcra_of(*look.numbers), judging.now.at, units);
    tenants.write(entry, {bucket.fresh_from, bucket.below}, judging.now);
    ledger.send_if_much(record, max_unsynced(look, judging), {bucket, entry.stamp().version},
                        judging.now);
}

}  // namespace sluice
