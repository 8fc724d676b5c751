#pragma once
#include "lib/peer/merge/bucket_state.hpp"
#include "lib/peer/merge/ledger.hpp"

#include <algorithm>
#include <array>

// The parts of Ledger::exchange().
namespace sluice {

// A message takes three turns: its line is asked for, then what it will touch, then it is taken.
template <LedgerBackend B>
void Ledger::ask(B& ledger_store) noexcept {
    std::size_t other = next_other_;
    for (std::size_t i = 0; i < others_at_once(); ++i) {
        other = after(other);
        lanes_.marks_between(other, me_).prefetch();
    }
    other = next_other_;
    for (std::size_t i = 0; i < others_at_once(); ++i) {
        other = after(other);
        ask_for_totals(lanes_.between(me_, other), incoming_[other].totals, ledger_store);
        ask_for_deltas(lanes_.between(other, me_), incoming_[other].deltas, ledger_store);
    }
    asked_ = true;
}

template <LedgerBackend B>
void Ledger::ask_for_totals(DeltaLane& lane, Incoming& incoming, B& ledger_store) noexcept {
    for (std::size_t i = incoming.asked; i < incoming.seen; ++i) {
        const Delta& delta = lane.deltas.kept(lane.totals.peek(i).number);
        ledger_store.prefetch(delta.account);
    }
    // The records of all that the owner is done with, whether it has said something or not.
    const std::uint64_t first = lane.deltas.retired();
    const std::uint64_t end = std::min(incoming.done_seen, first + kBatch);
    for (std::uint64_t at = first; at < end; ++at) {
        const Delta& delta = lane.deltas.kept(at);
        records_.prefetch(delta.account);
        records_.prefetch(delta.record);
    }
    incoming.asked = incoming.seen;
    incoming.done_asked = incoming.done_seen;
    incoming.done_seen = lane.deltas.acknowledged();
    const std::size_t there = lane.totals.waiting(kBatch);
    incoming.seen = static_cast<std::uint32_t>(there);
    if (there == kBatch) {
        incoming.done_seen = incoming.done_asked;  // more totals may have come before that mark
    }
    for (std::size_t i = incoming.asked; i < incoming.seen; ++i) {
        lane.totals.prefetch(i);
    }
}

template <LedgerBackend B>
void Ledger::ask_for_deltas(DeltaLane& lane, Incoming& incoming, B& ledger_store) noexcept {
    for (std::size_t i = incoming.asked; i < incoming.seen; ++i) {
        ledger_store.prefetch(lane.deltas.peek(i).account);
    }
    incoming.asked = incoming.seen;
    incoming.seen = static_cast<std::uint32_t>(lane.deltas.waiting(kBatch));
    for (std::size_t i = incoming.asked; i < incoming.seen; ++i) {
        lane.deltas.prefetch(i);
    }
}

template <LedgerBackend B>
void Ledger::exchange(B& ledger_store, Now now) noexcept {
    if (!asked_) {
        // Nobody has: all that is there, at once.
        ask(ledger_store);
        ask(ledger_store);
    }
    asked_ = false;
    for (std::size_t i = 0; i < others_at_once(); ++i) {
        next_other_ = after(next_other_);
        Both& incoming = incoming_[next_other_];
        take(next_other_, incoming.totals, ledger_store, now);
        incoming.totals.took();
        serve_first(incoming.deltas.asked, next_other_, ledger_store, now);
        incoming.deltas.took();
        send_some_due(next_other_, ledger_store, now);
    }
    if (store_ != nullptr) [[unlikely]] {
        exchange_with_store(ledger_store, now);
    }
    counters_.in_use.set(records_.in_use());
    counters_.set(LedgerEvent::ReadGivenUp, records_.reads_given_up());
}

// As the sender. An amount that the owner is done with is contained in what is held here, once the
// totals that came before have been taken: so the mark is read first, and used last.
template <LedgerBackend B>
void Ledger::take_totals(std::size_t owner, B& ledger_store, Now now) noexcept {
    DeltaLane& lane = lanes_.between(me_, owner);
    const std::uint64_t done = lane.deltas.acknowledged();
    const auto count = static_cast<std::uint32_t>(lane.totals.waiting(kBatch));
    take(owner, {.asked = count, .done_asked = count < kBatch ? done : 0}, ledger_store, now);
}

template <LedgerBackend B>
void Ledger::take(std::size_t owner, const Incoming& incoming, B& ledger_store, Now now) noexcept {
    DeltaLane& lane = lanes_.between(me_, owner);
    for (std::size_t i = 0; i < incoming.asked; ++i) {
        take_total(lane, owner, lane.totals.peek(i), ledger_store, now);
    }
    lane.totals.done(incoming.asked);
    settle_below(lane, owner, incoming.done_asked);
}

template <LedgerBackend B>
void Ledger::take_total(DeltaLane& lane, std::size_t owner, const Total& total, B& ledger_store,
                        Now now) noexcept {
    if (total.number < std::max(lane.deltas.retired(), first_own_[owner])) {
        return;
    }
    settle_below(lane, owner, total.number);
    const Delta delta = lane.deltas.kept(total.number);
    if constexpr (TallyBackend<B>) {
        if (total.kind == Total::Kind::Refresh) {
            (void)ledger_store.renew(delta.account, total.state, more_than(total, delta), now);
            return;
        }
        if (total.kind == Total::Kind::Earlier) {
            ledger_store.move_back(delta.account, total.earlier, now);
            return;
        }
    }
    lane.deltas.retire(total.number + 1);
    counters_.count(LedgerEvent::Taken);
    if (raise(delta, total, ledger_store, now)) {
        records_.note_contained(delta.record, delta.units);
    } else {
        counters_.count(LedgerEvent::Returned);
        records_.note_returned(delta.record, delta.units, now.at);
    }
}

// The copy first: what it does not contain stays unsynced.
template <LedgerBackend B>
bool Ledger::raise(const Delta& delta, const Total& total, B& ledger_store, Now now) noexcept {
    // What a lease has left was not charged; it goes on.
    const std::uint64_t left = ledger_store.recall(delta.account);
    More more = more_than(total, delta);
    more.current -= std::min(more.current, left);
    const bool raised = total.kind == Total::Kind::Applied &&
                        ledger_store.raise(delta.account, total.state, more, now);
    if (left != 0) {
        ledger_store.grant(delta.account, static_cast<std::uint32_t>(left));
    }
    return raised;
}

// As the owner. Stops where the sender could not be answered: the amount stays where it is.
template <LedgerBackend B>
void Ledger::serve(std::size_t sender, B& ledger_store, Now now) noexcept {
    serve_first(lanes_.between(sender, me_).deltas.waiting(kBatch), sender, ledger_store, now);
}

template <LedgerBackend B>
void Ledger::serve_first(std::size_t count, std::size_t sender, B& ledger_store, Now now) noexcept {
    DeltaLane& lane = lanes_.between(sender, me_);
    // Who is stopped in between has all of them to apply again: counting twice is allowed.
    std::size_t served = 0;
    while (served < count && serve_one(lane, lane.deltas.first_waiting() + served,
                                       lane.deltas.peek(served), ledger_store, now)) {
        ++served;
    }
    if (served < count) {
        counters_.count(LedgerEvent::HeldBack);
    }
    // Answers before the mark that says that amounts are done with.
    lane.totals.publish();
    lane.deltas.done(served);
}

template <LedgerBackend B>
bool Ledger::serve_one(DeltaLane& lane, std::uint64_t number, const Delta& delta, B& ledger_store,
                       Now now) noexcept {
    if (lane.totals.next() == nullptr) {
        lane.totals.retire(lane.totals.acknowledged());
        if (lane.totals.next() == nullptr) {
            return false;
        }
    }
    BucketState total;
    bool applied = false;
    if constexpr (StoreBackend<B>) {
        applied = is_of_cluster(delta.account) ? apply_for_cluster(delta, ledger_store, now, total)
                                               : ledger_store.apply(delta, now, total);
    } else {
        applied = ledger_store.apply(delta, now, total);
    }
    if (!applied) {
        counters_.count(LedgerEvent::NoPlace);
        answer(lane, {.number = number, .kind = Total::Kind::Later, .state = {}, .earlier = {}});
        return true;
    }
    const bool late = total.has_counts() && is_over(delta.epoch, total.counts, total.lasts);
    counters_.count(late ? LedgerEvent::Expired : LedgerEvent::Applied);
    if (owes_more(total, delta.held)) {
        counters_.count(LedgerEvent::Answered);
        Total answered{
            .number = number, .kind = Total::Kind::Applied, .state = total, .earlier = {}};
        if constexpr (TallyBackend<B>) {
            if (total.has_tally()) {
                answered.earlier.slot = ledger_store.newest(delta.account, now);
            }
            if (lacks_much(total, delta.held)) {
                notify_all(lane, answered, delta.account, ledger_store, now);
            }
        }
        answer(lane, answered);
    }
    return true;
}

// What a total of sub-windows is made of, as far as the ring has room for it.
template <LedgerBackend B>
void Ledger::notify_all(DeltaLane& lane, const Total& total, const Account& account,
                        B& ledger_store, Now now) noexcept {
    std::array<SubWindow, kBatch> earlier;
    lane.totals.retire(lane.totals.acknowledged());
    const std::size_t room = lane.totals.room();
    if (room < 3) {
        return;  // the total itself says enough, and less exactly
    }
    const std::size_t count = ledger_store.earlier(
        account, std::span{earlier}.first(std::min(earlier.size(), room - 2)), now);
    Total part = total;
    part.kind = Total::Kind::Refresh;
    answer(lane, part);
    part.kind = Total::Kind::Earlier;
    for (std::size_t i = 0; i < count; ++i) {
        part.earlier = earlier[i];
        answer(lane, part);
    }
}

template <LedgerBackend B>
void Ledger::send_due(std::size_t owner, B& ledger_store, Now now) noexcept {
    for (std::size_t list = 0; list < RecordPool::kLists; ++list) {
        send_list(owner, list, ledger_store, now);
    }
    lanes_.between(me_, owner).deltas.publish();
}

// What is due soon, and of what is due late one list after the other.
template <LedgerBackend B>
void Ledger::send_some_due(std::size_t owner, B& ledger_store, Now now) noexcept {
    if (hurries()) {
        send_due(owner, ledger_store, now);
        return;
    }
    std::size_t& late = incoming_[owner].late_list;
    late = late % RecordPool::kLateLists + 1;
    send_list(owner, 0, ledger_store, now);
    send_list(owner, late, ledger_store, now);
    lanes_.between(me_, owner).deltas.publish();
}

// Where records are few, what is due late is told sooner; to the store in an eighth of the time: it
// takes so many keys a second and no more, and what it gives back would only be told again.
template <LedgerBackend B>
void Ledger::send_list(std::size_t owner, std::size_t list, B& ledger_store, Now now) noexcept {
    Nanoseconds least = wait_of(owner, list);
    if (list != 0 && records_.is_crowded()) {
        least = owner == store() ? least / 8 : wait_of(owner, 0);
    }
    send_old(owner, list, least, ledger_store, now);
}

// Those of a list that have been unsent for `least`.
template <LedgerBackend B>
void Ledger::send_old(std::size_t owner, std::size_t list, Nanoseconds least, B& ledger_store,
                      Now now) noexcept {
    std::array<std::uint32_t, kBatch> old;
    std::size_t count = 0;
    for (std::uint32_t at = records_.oldest(owner, list);
         at != kNoRecord && count < kBatch && records_.age(at, now.at) >= least;
         at = records_.next_oldest(at)) {
        ledger_store.prefetch(records_.at(at).account());
        old[count++] = at;
    }
    for (std::size_t i = 0; i < count; ++i) {
        if (!send_one(old[i], ledger_store, now)) {
            break;
        }
        if (list != 0 && least < wait_of(owner, list)) [[unlikely]] {
            counters_.count(LedgerEvent::Early);
        }
    }
    if (count != 0) {
        records_.ask_behind_oldest(owner, list,
                                   [&](const Account& account) { ledger_store.prefetch(account); });
    }
}

// False: there is no room for it.
template <LedgerBackend B>
bool Ledger::send_one(std::uint32_t index, B& ledger_store, Now now) noexcept {
    const Account account = records_.at(index).account();
    const std::uint64_t left = ledger_store.recall(account);
    give_back(index, left);
    if (records_.at(index).unsent() == 0) {
        return true;  // all of it was a lease
    }
    const bool to_store = keeps_total(account);
    if (!ledger_store.shares(account) || (to_store && !is_of_cluster(account))) {
        counters_.count(LedgerEvent::Dropped);
        records_.drop_unsent(index);
        return true;
    }
    const BucketState copy = ledger_store.copy_of(account, now);
    if (is_late(account, copy)) {
        counters_.count(LedgerEvent::Expired);
        records_.drop_unsent(index);
        return true;
    }
    bool sent = false;
    if constexpr (StoreBackend<B>) {
        sent = to_store ? send_to_store(index, copy, ledger_store, now) : send(index, copy, now);
    } else {
        sent = send(index, copy, now);
    }
    if (!sent) {
        return false;
    }
    if (left != 0) {
        renew_lease(index, account, ledger_store, now);
    }
    return true;
}

// Who has used one goes on without a question.
template <LedgerBackend B>
void Ledger::renew_lease(std::uint32_t index, const Account& account, B& ledger_store,
                         Now now) noexcept {
    Leasing to = ledger_store.leasing(account);
    to.max_unsynced = to.max_unsynced == 0 ? 0 : bound_of(account, to.max_unsynced);
    const std::uint32_t units = lend(index, to, now.at);
    if (units != 0) {
        ledger_store.grant(account, units);
    }
}

}  // namespace sluice
