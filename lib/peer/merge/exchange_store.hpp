#pragma once
#include "lib/peer/merge/ledger.hpp"

#include <algorithm>

// The parts of Ledger::exchange() that are between a worker and the store of its cluster.
namespace sluice {

// The age of a level at its worker beyond which the store is away.
inline constexpr Nanoseconds kLatestLevel{300'000'000};

template <LedgerBackend B>
void Ledger::exchange_with_store(B& ledger_store, Now now) noexcept {
    if constexpr (StoreBackend<B>) {
        // Whoever takes amounts out of the ring keeps them: they are settled by their answers
        // alone.
        store_->amounts.retire(store_->amounts.acknowledged());
        const std::size_t count = store_->totals.waiting(kBatch);
        for (std::size_t i = 0; i < count; ++i) {
            ledger_store.prefetch(store_->totals.peek(i).account);
        }
        for (std::size_t i = 0; i < count; ++i) {
            take_store_total(store_->totals.peek(i), ledger_store, now);
        }
        store_->totals.done(count);
        send_hurried(ledger_store, now);
        store_late_list_ = store_late_list_ % RecordPool::kLateLists + 1;
        send_list(store(), 0, ledger_store, now);
        send_list(store(), store_late_list_, ledger_store, now);
        store_->amounts.publish();
    }
}

// A record stays its account's for as long as something of it is sent, so what names another one is
// of an earlier life, or was never sent.
template <StoreBackend B>
void Ledger::take_store_total(const StoreTotal& total, B& ledger_store, Now now) noexcept {
    Delta delta;
    delta.account = total.account;
    delta.units = total.declared ? 0 : total.units;
    delta.record = total.record;
    Total answer{.number = 0, .kind = Total::Kind::Applied, .state = {}, .earlier = {}};
    if (total.kind != StoreTotal::Kind::Later) {
        answer.state = ledger_store.state_at_store(total, now);
    } else {
        answer.kind = Total::Kind::Later;
    }
    if (total.declared) {
        (void)raise(delta, answer, ledger_store, now);
        return;
    }
    if (total.record >= records_.size() || !records_.at(total.record).is_of(total.account) ||
        records_.at(total.record).sent() < total.units) {
        counters_.count(LedgerEvent::StoreUnknown);
        return;
    }
    counters_.count(LedgerEvent::StoreTaken);
    const bool raised = raise(delta, answer, ledger_store, now);
    if (raised || total.kind == StoreTotal::Kind::Over) {
        records_.note_contained(total.record, total.units);
    } else {
        counters_.count(LedgerEvent::Returned);
        records_.note_returned(total.record, total.units, now.at);
    }
    if (raised) {
        declare_if_behind(total, ledger_store, now);
    }
}

// A store that has the key's level owes no less than the copy but for what is noted yet, what the
// copy may be ahead by, and what is paid back while a level is on its way: whatever lacks more has
// lost it, by a flush, a restart or a fail-over. Copies that are a little stricter are not
// declared: each level would raise the next.
inline std::uint64_t lost_from(std::uint64_t level, std::uint64_t box_unsynced,
                               const StoreNumbers& numbers) noexcept {
    const Wide paid =
        numbers.are_known() ? Wide{kLatestLevel.count()} * numbers.parts / numbers.period : Wide{0};
    return static_cast<std::uint64_t>(
        std::min<Wide>(Wide{level} + box_unsynced + paid, UINT64_MAX));
}

// What is still owed, not the sum of what was spent: an outage is not to be paid for a second time.
// What is noted yet will be added to it.
template <StoreBackend B>
void Ledger::declare_if_behind(const StoreTotal& total, B& ledger_store, Now now) noexcept {
    const Account& account = total.account;
    std::uint64_t& noted = shared_locally_[account.hash % kSharedLocally];
    const bool is_noted = noted == account.hash && account.hash != 0;
    const std::uint64_t unsynced = records_.unsynced(account);
    const std::uint64_t owed = ledger_store.owed(account, now);
    const StoreNumbers numbers = ledger_store.store_numbers(account);
    const bool is_lost =
        total.kind == StoreTotal::Kind::Level && owed > unsynced &&
        owed - unsynced > lost_from(total.current, bounds_[account.slot].box_unsynced, numbers);
    if ((!is_noted && !is_lost) || store_->down.raised()) {
        return;
    }
    StoreAmount* amount = owed > unsynced ? store_->amounts.next() : nullptr;
    if (amount == nullptr) {
        noted = is_noted && owed <= unsynced ? 0 : noted;
        return;
    }
    noted = is_noted ? 0 : noted;
    *amount = {
        .account = account,
        .units = static_cast<std::uint32_t>(std::min<std::uint64_t>(owed - unsynced, UINT32_MAX)),
        .numbers = numbers,
        .kind = StoreAmount::Kind::Declare};
    store_->amounts.commit();
    counters_.count(LedgerEvent::StoreDeclared);
}

// Records that have been told meanwhile, or are another account's, have little that is unsent.
template <StoreBackend B>
void Ledger::send_hurried(B& ledger_store, Now now) noexcept {
    for (std::size_t i = 0; i < hurried_count_; ++i) {
        const Record& record = records_.at(hurried_[i]);
        const Account account = record.account();
        const bool much = record.unsent() != 0 && keeps_total(account) &&
                          is_of_cluster(account.slot) &&
                          2 * std::uint64_t{record.unsent()} >= bounds_[account.slot].box_unsynced;
        if (much && !send_one(hurried_[i], ledger_store, now)) {
            break;  // the others are due soon
        }
    }
    hurried_count_ = 0;
}

template <StoreBackend B>
bool Ledger::send_to_store(std::uint32_t index, const BucketState& copy, B& ledger_store,
                           Now now) noexcept {
    StoreAmount* amount = store_->amounts.next();
    if (amount == nullptr) {
        counters_.count(LedgerEvent::RingFull);
        return false;
    }
    const Account account = records_.at(index).account();
    *amount = {.account = account,
               .units = records_.at(index).unsent(),
               .record = index,
               .numbers = ledger_store.store_numbers(account),
               .epoch = copy.has_counts()
                            ? ledger_store.store_epoch(
                                  account, epoch_of(account.turn, copy.counts.epoch), now)
                            : 0};
    store_->amounts.commit();
    records_.note_sent(index);
    counters_.count(LedgerEvent::StoreSent);
    return true;
}

// Record, then copy. What a lease has left was not charged: the amount may need its room.
template <StoreBackend B>
bool Ledger::apply_for_cluster(const Delta& delta, B& ledger_store, Now now,
                               BucketState& total) noexcept {
    give_back(delta.account, ledger_store.recall(delta.account));
    const ClusterBound& bound = bounds_[delta.account.slot];
    if (credit(delta.account, delta.units, bound.box_unsynced) != Credit::Enough) {
        if (!store_->down.raised() || bound.closed_down) {
            counters_.count(LedgerEvent::StoreFull);
            return false;
        }
        // The amount has been admitted, within what a worker may be ahead by.
        Delta more = delta;
        more.units *= bound.times_down;
        if (delta.held.has_counts()) {
            (void)note(delta.account, delta.units, now, Due::Soon);
        } else {
            note_shared_locally(delta.account);
        }
        counters_.count(LedgerEvent::LocalShare);
        return ledger_store.apply(more, now, total);
    }
    const std::uint32_t record = records_.add(delta.account, delta.units, now.at,
                                              ledger_store.due(delta.account, delta.units, now));
    if (!ledger_store.apply(delta, now, total)) {
        records_.take_back(record, delta.units);
        return false;
    }
    if (2 * std::uint64_t{records_.at(record).unsent()} >= bound.box_unsynced) {
        hurry_to_store(record, now.at);
    }
    return true;
}

}  // namespace sluice
