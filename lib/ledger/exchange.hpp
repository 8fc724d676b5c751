#pragma once
#include "lib/ledger/ledger.hpp"
#include "lib/ledger/stand.hpp"

#include <algorithm>
#include <array>

// The parts of Ledger::exchange().
namespace sluice {

// As the sender. An amount that the owner is done with is contained in what is held here, once the
// totals that came before have been taken: so the mark is read first, and used last.
template <Books B>
void Ledger::take_totals(std::size_t owner, B& books, Now now) noexcept {
    AmountLane& lane = lanes_.between(me_, owner);
    const std::uint64_t done = lane.amounts.acknowledged();
    const std::size_t count = lane.totals.waiting(kBatch);
    for (std::size_t i = 0; i < count; ++i) {
        const Amount& amount = lane.amounts.kept(lane.totals.peek(i).number);
        books.prefetch(amount.account);
        records_.prefetch(amount.record);
    }
    for (std::size_t i = 0; i < count; ++i) {
        take_total(lane, owner, lane.totals.peek(i), books, now);
    }
    lane.totals.done(count);
    if (count < kBatch) {
        settle_below(lane, owner, done);
    }
}

template <Books B>
void Ledger::take_total(AmountLane& lane, std::size_t owner, const Total& total, B& books,
                        Now now) noexcept {
    if (total.number < std::max(lane.amounts.retired(), first_own_[owner])) {
        return;
    }
    settle_below(lane, owner, total.number);
    const Amount amount = lane.amounts.kept(total.number);
    if constexpr (TallyBooks<B>) {
        if (total.kind == Total::Kind::Refresh) {
            (void)books.renew(amount.account, total.stand, more_than(total, amount), now);
            return;
        }
        if (total.kind == Total::Kind::Earlier) {
            books.move_back(amount.account, total.earlier, now);
            return;
        }
    }
    lane.amounts.retire(total.number + 1);
    counters_.count(LedgerEvent::Taken);
    // The copy first: what it does not contain stays unsynced.
    if (total.kind == Total::Kind::Applied &&
        books.raise(amount.account, total.stand, more_than(total, amount), now)) {
        records_.note_contained(amount.record, amount.units);
    } else {
        counters_.count(LedgerEvent::Returned);
        records_.note_returned(amount.record, amount.units, now.at);
    }
}

// As the owner. Stops where the sender could not be answered: the amount stays where it is.
template <Books B>
void Ledger::serve(std::size_t sender, B& books, Now now) noexcept {
    AmountLane& lane = lanes_.between(sender, me_);
    const std::size_t count = lane.amounts.waiting(kBatch);
    if (count == 0) {
        return;
    }
    lane.totals.retire(lane.totals.acknowledged());
    for (std::size_t i = 0; i < count; ++i) {
        books.prefetch(lane.amounts.peek(i).account);
    }
    // One at a time, so that who is stopped in between has at most one to apply again.
    for (std::size_t i = 0; i < count; ++i) {
        if (!serve_one(lane, lane.amounts.first_waiting(), lane.amounts.peek(0), books, now)) {
            counters_.count(LedgerEvent::HeldBack);
            return;
        }
        lane.amounts.done(1);
    }
}

// The answer goes before the mark that says that the amount is done with.
template <Books B>
bool Ledger::serve_one(AmountLane& lane, std::uint64_t number, const Amount& amount, B& books,
                       Now now) noexcept {
    if (lane.totals.next() == nullptr) {
        return false;
    }
    if (!books.apply(amount, now)) {
        counters_.count(LedgerEvent::NoPlace);
        answer(lane, {.number = number, .kind = Total::Kind::Later, .stand = {}, .earlier = {}});
        return true;
    }
    const Stand total = books.copy_of(amount.account, now);
    const bool late = total.has_counts() && is_over(amount.epoch, total.counts, total.lasts);
    counters_.count(late ? LedgerEvent::Expired : LedgerEvent::Applied);
    if (owes_more(total, amount.held)) {
        counters_.count(LedgerEvent::Answered);
        Total answered{
            .number = number, .kind = Total::Kind::Applied, .stand = total, .earlier = {}};
        if constexpr (TallyBooks<B>) {
            if (total.has_tally()) {
                answered.earlier.slot = books.newest(amount.account, now);
            }
            if (lacks_much(total, amount.held)) {
                tell_all(lane, answered, amount.account, books, now);
            }
        }
        answer(lane, answered);
    }
    return true;
}

// What a total of sub-windows is made of, as far as the ring has room for it.
template <Books B>
void Ledger::tell_all(AmountLane& lane, const Total& total, const Account& account, B& books,
                      Now now) noexcept {
    std::array<SubWindow, kBatch> earlier;
    const std::size_t room = lane.totals.room();
    if (room < 3) {
        return;  // the total itself says enough, and less exactly
    }
    const std::size_t count =
        books.earlier(account, std::span{earlier}.first(std::min(earlier.size(), room - 2)), now);
    Total part = total;
    part.kind = Total::Kind::Refresh;
    answer(lane, part);
    part.kind = Total::Kind::Earlier;
    for (std::size_t i = 0; i < count; ++i) {
        part.earlier = earlier[i];
        answer(lane, part);
    }
}

template <Books B>
void Ledger::send_due(std::size_t owner, B& books, Now now) noexcept {
    std::array<std::uint32_t, kBatch> due;
    std::size_t count = 0;
    for (std::uint32_t at = records_.oldest(owner);
         at != kNoRecord && count < kBatch && records_.age(at, now.at) >= interval_;
         at = records_.next_oldest(at)) {
        books.prefetch(records_.at(at).account());
        due[count++] = at;
    }
    for (std::size_t i = 0; i < count; ++i) {
        const Account account = records_.at(due[i]).account();
        if (!books.shares(account)) {
            counters_.count(LedgerEvent::Dropped);
            records_.drop_unsent(due[i]);
            continue;
        }
        const Stand copy = books.copy_of(account, now);
        if (is_late(account, copy)) {
            counters_.count(LedgerEvent::Expired);
            records_.drop_unsent(due[i]);
        } else if (!send(due[i], copy, now)) {
            return;
        }
    }
}

}  // namespace sluice
