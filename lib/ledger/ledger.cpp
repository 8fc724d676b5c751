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
