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
        watch_store(now.at);
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
        ledger_store.tell_gauges(now);
        store_->amounts.publish();
    }
}

// A record stays its account's for as long as something of it is sent, so what names another one is
// of an earlier life, or was never sent.
template <StoreBackend B>
void Ledger::take_store_total(const StoreTotal& total, B& ledger_store, Now now) noexcept {
    if ((total.record & kGaugeRecord) != 0) {
        ledger_store.take_gauge(total);
        return;
    }
    Delta delta;
    delta.account = total.account;
    delta.units = total.declared ? 0 : total.units;
    delta.record = total.record;
    Total answer{.number = 0, .kind = Total::Kind::Applied, .state = {}, .earlier = {}};
    if (total.kind == StoreTotal::Kind::Level || total.kind == StoreTotal::Kind::Over) {
        answer.state = ledger_store.state_at_store(total, now);
    } else {
        answer.kind = Total::Kind::Later;
    }
    if (total.kind == StoreTotal::Kind::Ahead || ledger_store.is_beyond_clock(total, now)) {
        store_->other_clock.add(1);
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
    const bool is_let_go =
        total.kind == StoreTotal::Kind::Over || total.kind == StoreTotal::Kind::Ahead;
    if (total.kind == StoreTotal::Kind::Level) {
        note_local_share(total.account, total.current, ledger_store, now);
    }
    const bool raised = raise(delta, answer, ledger_store, now);
    if (raised || is_let_go) {
        records_.note_contained(total.record, total.units);
    } else {
        counters_.count(LedgerEvent::Returned);
        records_.note_returned(total.record, total.units, now.at,
                               store_->over_budget.raised() ? Due::Late : Due::Soon);
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
    const bool is_bucket = numbers.are_known() && numbers.lasts == 0;
    const Wide paid =
        is_bucket ? Wide{kLatestLevel.count()} * numbers.parts / numbers.period : Wide{0};
    return static_cast<std::uint64_t>(
        std::min<Wide>(Wide{level} + box_unsynced + paid, UINT64_MAX));
}

// Units of local shares that the store, which owes `owed` of a key, may be told: up to the most
// that all boxes may owe together. Shares of c of M boxes that were cut off while others were not
// lie beyond: admitted beyond the limit, as is stated, and nobody is to be refused for them later.
inline std::uint64_t room_for_shares(const Limit* limit, std::uint64_t overshoot,
                                     std::uint64_t owed) noexcept {
    if (limit == nullptr) {
        return UINT64_MAX;
    }
    const Wide most = Wide{limit->burst()} + overshoot;
    return owed >= most ? 0 : static_cast<std::uint64_t>(std::min<Wide>(most - owed, UINT64_MAX));
}

// The debt that is left of a local share, not the sum of what was spent: an outage is not to be
// paid for a second time. Of `times_down` that the copy was charged for each unit one is this
// box's; what the copy owes beyond the store from then on stands for what the others are yet to
// tell. `level`: what the store owes.
template <StoreBackend B>
void Ledger::note_local_share(const Account& account, std::uint64_t level, B& ledger_store,
                              Now now) noexcept {
    LocalShare* share = local_shares_.find(account);
    if (share == nullptr || share->units == 0) {
        return;
    }
    const std::uint64_t times = std::max<std::uint64_t>(bounds_[account.slot].times_down, 1);
    const std::uint64_t copy = ledger_store.owed(account, now);
    const std::uint64_t before =
        std::min(copy, ledger_store.owed_by(account, share->before, now).value_or(0));
    const std::uint64_t unsynced = records_.unsynced(account);
    const std::uint64_t room =
        std::min(kMostUnsynced - std::min(kMostUnsynced, unsynced),
                 room_for_shares(ledger_store.bucket_limit(account),
                                 bounds_[account.slot].overshoot, level + unsynced));
    const std::uint64_t units = std::min({share->units, (copy - before + times) / times, room});
    const std::uint32_t record = units == 0 ? kNoRecord : note(account, units, now, Due::Soon);
    if (record == kNoRecord) {
        return;  // with the next answer
    }
    hurry_to_store(record, now.at);
    share->units = 0;
    ledger_store.charge(share->least, account, units, now);
}

// A store that has lost what was confirmed is told what the copy owes, as far as that is not noted
// yet: what is noted will be added to it.
template <StoreBackend B>
void Ledger::declare_if_behind(const StoreTotal& total, B& ledger_store, Now now) noexcept {
    const Account& account = total.account;
    const std::uint64_t unsynced = records_.unsynced(account);
    const StoreNumbers numbers = ledger_store.store_numbers(account);
    if (numbers.lasts == 2) {
        declare_windows_if_behind(total, ledger_store, now);
        return;
    }
    const std::uint64_t most =
        lost_from(total.current, bounds_[account.slot].box_unsynced, numbers) + unsynced;
    std::uint64_t owed = ledger_store.owed(account, now);
    LocalShare* share = local_shares_.find(account);
    if (share != nullptr && share->units == 0 && share->account.turn == account.turn) {
        const auto least = ledger_store.owed_by(account, share->least, now);
        if (owed <= total.current + unsynced) {
            *share = {};
        } else if (!least) {
            return;  // its numbers are others by now; what the copy owes is beyond the store by
                     // design
        } else {
            owed = *least;
        }
    }
    if (total.kind != StoreTotal::Kind::Level || owed <= most) {
        return;
    }
    StoreAmount* amount = store_->amounts.next();
    if (amount == nullptr) {
        return;
    }
    *amount = {
        .account = account,
        .units = static_cast<std::uint32_t>(std::min<std::uint64_t>(owed - unsynced, UINT32_MAX)),
        .numbers = numbers,
        .epoch = total.epoch,
        .kind = StoreAmount::Kind::Declare};
    store_->amounts.commit();
    counters_.count(LedgerEvent::StoreDeclared);
}

// The same of a window and the one before, both of which count: no amount is told in that one any
// more. What the copy was charged for other boxes while the store was away is left out.
template <StoreBackend B>
void Ledger::declare_windows_if_behind(const StoreTotal& total, B& ledger_store, Now now) noexcept {
    const BucketState at_store = ledger_store.state_at_store(total, now);
    const BucketState copy = ledger_store.copy_of(total.account, now);
    if (total.kind != StoreTotal::Kind::Level || at_store.lasts != copy.lasts ||
        at_store.counts.epoch > copy.counts.epoch) {
        return;
    }
    const WindowCounts level = moved_to(at_store.counts, copy.counts.epoch, copy.lasts);
    const WindowCounts owed = without_others(copy, local_shares_.find(total.account));
    const auto declare = [&](std::int64_t epoch, std::uint64_t units, std::uint64_t known) {
        const Account account = total.account.in(turn_of(epoch));
        const StoreNumbers numbers = ledger_store.store_numbers(account);
        const Record* record = records_.find(account);
        const std::uint64_t unsynced = record == nullptr ? 0 : record->unsynced();
        const std::uint64_t least = lost_from(known, bounds_[account.slot].box_unsynced, numbers);
        StoreAmount* amount = units > least + unsynced ? store_->amounts.next() : nullptr;
        if (amount == nullptr) {
            return;
        }
        const std::uint64_t lost = std::min<std::uint64_t>(units - unsynced, UINT32_MAX);
        *amount = {.account = account,
                   .units = static_cast<std::uint32_t>(lost),
                   .numbers = numbers,
                   .epoch = ledger_store.store_epoch(account, epoch, now),
                   .kind = StoreAmount::Kind::Declare};
        store_->amounts.commit();
        counters_.count(LedgerEvent::StoreDeclared);
    };
    declare(owed.epoch, owed.current, level.current);
    declare(owed.epoch - 1, owed.previous, level.previous);
}

// Records that have been told meanwhile, or are another account's, have little that is unsent.
template <StoreBackend B>
void Ledger::send_hurried(B& ledger_store, Now now) noexcept {
    for (const std::uint32_t index : hurried_.all()) {
        const Record& record = records_.at(index);
        const Account account = record.account();
        const bool much = record.unsent() != 0 && keeps_total(account) && is_of_cluster(account) &&
                          2 * std::uint64_t{record.unsent()} >= bounds_[account.slot].box_unsynced;
        if (much && !send_one(index, ledger_store, now)) {
            break;  // the others are due soon
        }
    }
    hurried_.clear();
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

// The amount has been admitted, within what a worker may be ahead by.
template <StoreBackend B>
bool Ledger::apply_without_store(const Delta& delta, std::uint32_t times, B& ledger_store, Now now,
                                 BucketState& total) noexcept {
    counters_.count(LedgerEvent::LocalShare);
    if (delta.held.has_counts()) {
        const StoreNumbers numbers = ledger_store.store_numbers(delta.account);
        const Nanoseconds window{static_cast<std::int64_t>(numbers.period) * 1'000};
        share_windows_locally(delta.account, delta.units, ledger_store.copy_of(delta.account, now),
                              now.at + (numbers.lasts + 1) * window, now);
        Delta more = delta;
        more.units = static_cast<std::uint32_t>(
            std::min<std::uint64_t>(std::uint64_t{delta.units} * times, UINT32_MAX));
        return ledger_store.apply(more, now, total);
    }
    const Limit* limit = ledger_store.bucket_limit(delta.account);
    if (limit == nullptr) {
        return false;
    }
    total = ledger_store.copy_of(delta.account, now);
    if (times == 0) {
        return true;
    }
    total.bucket = share_locally(delta.account, {delta.units, times}, total, *limit, now);
    return ledger_store.raise(delta.account, total, {}, now);
}

// Record, then copy. What a lease has left was not charged: the amount may need its room.
template <StoreBackend B>
bool Ledger::apply_for_cluster(const Delta& delta, B& ledger_store, Now now,
                               BucketState& total) noexcept {
    give_back(delta.account, ledger_store.recall(delta.account));
    const ClusterBound& bound = bounds_[delta.account.slot];
    const Credit credit_left = credit(delta.account, delta.units, box_credit(delta.account.slot));
    if (credit_left != Credit::Enough) {
        const std::uint32_t times = times_without_credit(delta.account.slot);
        if (!is_cut_off(delta.account, credit_left) || times == kClosed) {
            counters_.count(LedgerEvent::StoreFull);
            return false;
        }
        return apply_without_store(delta, times, ledger_store, now, total);
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
