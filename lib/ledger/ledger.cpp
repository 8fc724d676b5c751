#include "lib/ledger/ledger.hpp"

namespace sluice {

bool Ledger::send(std::uint32_t record, const Stand& copy, Now now) noexcept {
    const Account account = records_.at(record).account();
    AmountLane& lane = lanes_.between(me_, owner_of(account, lanes_.workers()));
    Amount* amount = lane.amounts.next();
    if (amount == nullptr) {
        counters_.count(LedgerEvent::RingFull);
        return false;
    }
    *amount = {.account = account,
               .version = copy.version,
               .units = records_.at(record).unsent(),
               .record = record,
               .at = now.at,
               .held = copy.bucket};
    lane.amounts.commit();
    records_.note_sent(record);
    counters_.count(LedgerEvent::Sent);
    return true;
}

Ledger::Ahead Ledger::go_ahead(const Account& account, std::uint64_t units,
                               std::uint64_t max_unsynced, Now now) noexcept {
    const std::uint32_t index = records_.index_of(account);
    if (index == kNoRecord && records_.free() < reserve_) {
        return {};
    }
    const Record none;
    const Record& before = index == kNoRecord ? none : records_.at(index);
    if (before.unsynced() + units > std::min(max_unsynced, kMostUnsynced)) {
        return {};
    }
    const auto more = static_cast<std::uint32_t>(units);
    const std::uint64_t unsent = before.unsent() + units;
    AmountLane& lane = lanes_.between(me_, owner_of(account, lanes_.workers()));
    if (2 * unsent < max_unsynced || lane.amounts.next() == nullptr) {
        return {records_.add_to(index, account, more, now.at), 0};
    }
    // Sent as soon as the copy is charged, which nobody sees in between.
    return {records_.add_sent(index, account, more), static_cast<std::uint32_t>(unsent)};
}

void Ledger::tell(const Ahead& ahead, const Account& account, const Stand& copy, Now now) noexcept {
    if (ahead.units == 0) {
        return;
    }
    AmountLane& lane = lanes_.between(me_, owner_of(account, lanes_.workers()));
    *lane.amounts.next() = {.account = account,
                            .version = copy.version,
                            .units = ahead.units,
                            .record = ahead.record,
                            .at = now.at,
                            .held = copy.bucket};
    lane.amounts.commit();
    counters_.count(LedgerEvent::Sent);
}

// What is contained in the copies held here without a word.
void Ledger::settle_below(AmountLane& lane, std::size_t owner, std::uint64_t number) noexcept {
    for (std::uint64_t at = lane.amounts.retired(); at < number; ++at) {
        const Amount& amount = lane.amounts.kept(at);
        if (at >= first_own_[owner]) {
            records_.note_contained(amount.record, amount.units);
        }
    }
    if (number > lane.amounts.retired()) {
        lane.amounts.retire(number);
    }
}

void Ledger::answer(AmountLane& lane, std::uint64_t number, Total::Kind kind,
                    const Stand& stand) noexcept {
    *lane.totals.next() = {
        .number = number, .kind = kind, .version = stand.version, .bucket = stand.bucket};
    lane.totals.commit();
}

}  // namespace sluice
