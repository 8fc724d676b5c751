#pragma once
#include "lib/ledger/stand.hpp"
#include "lib/pipeline/judge_plain.hpp"

// The short way for one enforcing rule of one token bucket whose keys several workers spend, as
// judge_plain() is for others.
namespace sluice {

// Charges what fits. False: this worker may not go so far ahead, and nothing has been done.
[[nodiscard]] [[gnu::always_inline]] inline bool take_ahead(const PlainMatch& by, Instant now,
                                                            Ledger& ledger) noexcept {
    Entry& entry = *by.look.entry;
    const Limit& limit = *by.rule.limit;
    const Account account{by.look.key.hash, slot_of(by.look.key), 0};
    if (ledger.owns(account)) {
        take_fitting(entry, limit, now, by.look.cost);
        return true;
    }
    const Cell before = entry.cell();
    const Due due = due_of(Gcra{before.fresh_from, before.rest}, limit, now, by.look.cost);
    const Ledger::Ahead ahead =
        ledger.go_ahead(account, by.look.cost.count(), by.rule.max_unsynced, now, due);
    if (ahead.record == kNoRecord) [[unlikely]] {
        return false;
    }
    take_fitting(entry, limit, now, by.look.cost);
    if (ahead.units != 0) [[unlikely]] {
        const Cell cell = entry.cell();
        ledger.tell(ahead, account, {{cell.fresh_from, cell.rest}, by.rule.version}, now);
    }
    return true;
}

// False: nothing has been done, and the long way is to be taken.
[[nodiscard]] [[gnu::always_inline]] inline bool judge_shared(Packet& packet, const Match& match,
                                                              const PlainJudging& judging,
                                                              Ledger& ledger) noexcept {
    const PlainMatch by{match, judging};
    if (by.rule.max_unsynced == 0 || !by.is_at_hand(judging)) [[unlikely]] {
        return false;
    }
    if (!fits(*by.look.entry, *by.rule.limit, judging.now.at, by.look.cost)) {
        refuse(packet, match.rule, by, judging);
        return true;
    }
    if (!take_ahead(by, judging.now.at, ledger)) [[unlikely]] {
        return false;
    }
    by.counters.admitted.add(1);
    packet.decision = kWithinLimits;
    return true;
}

}  // namespace sluice
