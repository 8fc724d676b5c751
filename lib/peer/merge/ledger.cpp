#include "lib/peer/merge/ledger.hpp"

#include <algorithm>

namespace sluice {

bool Ledger::send(std::uint32_t record, const BucketState& copy, Now now) noexcept {
    const Account account = records_.at(record).account();
    DeltaLane& lane = lanes_.between(me_, owner_of(account, lanes_.workers()));
    Delta* delta = lane.deltas.next();
    if (delta == nullptr) {
        counters_.count(LedgerEvent::RingFull);
        return false;
    }
    *delta = {.account = account,
              .units = records_.at(record).unsent(),
              .record = record,
              .at = now.at,
              .held = copy};
    if (copy.has_counts()) {
        delta->epoch = epoch_of(account.turn, copy.counts.epoch);
    }
    lane.deltas.commit();
    records_.note_sent(record);
    counters_.count(LedgerEvent::Sent);
    return true;
}

Ledger::Ahead Ledger::open_ahead(std::uint32_t index, const Account& account,
                                 const Spending& spending, Instant now) noexcept {
    const Record none;
    const Record& before = index == kNoRecord ? none : records_.at(index);
    if (before.unsynced() + spending.units > std::min(spending.max_unsynced, kMostUnsynced)) {
        return {};
    }
    const auto more = static_cast<std::uint32_t>(spending.units);
    const std::uint64_t unsent = before.unsent() + spending.units;
    const bool again = before.unsent() != 0;
    if (has_cluster() && keeps_total(account)) [[unlikely]] {
        const bool much = 2 * unsent >= spending.max_unsynced;
        const std::uint32_t record =
            records_.add_to(index, account, more, now, much ? Due::Soon : spending.due);
        if (much && record != kNoRecord) {
            hurry_to_store(record, now);
        }
        return {record, 0, again};
    }
    DeltaLane& lane = lanes_.between(me_, owner_of(account, lanes_.workers()));
    if (2 * unsent < spending.max_unsynced || lane.deltas.next() == nullptr) {
        return {records_.add_to(index, account, more, now, spending.due), 0, again};
    }
    // Sent as soon as the copy is charged, which nobody sees in between.
    return {records_.add_sent(index, account, more), static_cast<std::uint32_t>(unsent), again};
}

// No lease lasts longer than an amount waits, so at any time there are twice as many at most.
bool Ledger::may_lend(Instant fresh_from, Nanoseconds longest, Instant now) noexcept {
    if (hurries() || records_.is_crowded()) {
        return false;
    }
    constexpr std::size_t kShare = 4;  // of the keys that a worker may have
    if (fresh_from - now >= longest) {
        return true;
    }
    if (now - lent_since_ >= longest) {
        lent_since_ = now;
        lent_ = 0;
    }
    return lent_++ < records_.size() / kShare;
}

// With all of it spent, what is unsent would still be below half of what may be unsynced.
std::uint32_t Ledger::lend(std::uint32_t index, const Leasing& to, Instant now) noexcept {
    const Record& record = records_.at(index);
    const std::uint64_t most_unsynced = std::min(to.max_unsynced, kMostUnsynced);
    const std::uint64_t most_unsent = most_unsynced == 0 ? 0 : (most_unsynced - 1) / 2;
    const bool is_soon = record.unsent() != 0 && record.due() == Due::Soon;
    if (is_soon || record.unsent() >= most_unsent || record.unsynced() >= most_unsynced ||
        !may_lend(to.fresh_from, keeps_total(record.account()) ? store_longest_ : longest_, now)) {
        return 0;
    }
    const auto units = static_cast<std::uint32_t>(
        std::min({most_unsent - record.unsent(), most_unsynced - record.unsynced(),
                  std::uint64_t{kMostLease}}));
    (void)records_.add_to(index, record.account(), units, now, Due::Late);
    return units;
}

void Ledger::give_back(const Account& account, std::uint64_t units) noexcept {
    if (units != 0) {
        give_back(records_.index_of(account), units);
    }
}

// (Two accounts may have one bucket, if their tags and lines are the same: the lease is that of
// either.)
void Ledger::give_back(std::uint32_t index, std::uint64_t units) noexcept {
    if (units != 0 && index != kNoRecord && records_.at(index).unsent() >= units) {
        records_.take_back(index, units);
    }
}

void Ledger::tell(const Ahead& ahead, const Account& account, const BucketState& copy,
                  Instant now) noexcept {
    if (ahead.units == 0) {
        return;
    }
    DeltaLane& lane = lanes_.between(me_, owner_of(account, lanes_.workers()));
    *lane.deltas.next() = {
        .account = account, .units = ahead.units, .record = ahead.record, .at = now, .held = copy};
    lane.deltas.commit();
    counters_.count(LedgerEvent::Sent);
}

// What a total that has come with the answer to an amount does not contain: of a bucket, all that
// is unsynced but that amount; of windows, of each what is unsynced of it.
More Ledger::more_than(const Total& total, const Delta& delta) const noexcept {
    const auto rest = [&](const Account& account) {
        const Record* record = records_.find(account);
        const std::uint64_t units = record == nullptr ? 0 : record->unsynced();
        return account == delta.account ? units - delta.units : units;
    };
    if (!total.state.has_counts()) {
        return {rest(delta.account), 0, total.earlier.slot};
    }
    const std::int64_t epoch = total.state.counts.epoch;
    return {rest(delta.account.in(turn_of(epoch))),
            total.state.lasts == 2 ? rest(delta.account.in(turn_of(epoch - 1))) : 0};
}

// What is contained in the copies held here without a word.
void Ledger::settle_below(DeltaLane& lane, std::size_t owner, std::uint64_t number) noexcept {
    for (std::uint64_t at = lane.deltas.retired(); at < number; ++at) {
        const Delta& delta = lane.deltas.kept(at);
        if (at >= first_own_[owner]) {
            records_.note_contained(delta.record, delta.units);
        }
    }
    if (number > lane.deltas.retired()) {
        lane.deltas.retire(number);
    }
}

void Ledger::set_cluster(std::span<const ClusterBound> bounds) noexcept {
    bool any = false;
    const std::size_t end = std::min(std::max(bounds.size(), cluster_slots_), slots_);
    for (std::size_t slot = 0; slot < end; ++slot) {
        bounds_[slot] = slot < bounds.size() ? bounds[slot] : ClusterBound{};
        any = any || bounds_[slot].box_unsynced != 0;
    }
    cluster_slots_ = bounds.size();
    alone_ = any ? LedgerPeers::kNobody : me_;
}

// Due soon in any case, so that it is told where there is no place to note that it is due at once.
void Ledger::hurry_to_store(std::uint32_t record, Instant now) noexcept {
    if (records_.at(record).due() != Due::Soon) {
        (void)records_.add_to(record, records_.at(record).account(), 0, now, Due::Soon);
    }
    hurried_.add(record);
}

void Ledger::set(Nanoseconds merge_interval, Nanoseconds longest_wait) noexcept {
    interval_ = merge_interval;
    longest_ = std::max(longest_wait, merge_interval);
}

void Ledger::count(Credit missing) noexcept {
    counters_.count(missing == Credit::UsedUp ? LedgerEvent::UsedUp : LedgerEvent::NoRecord);
}

void Ledger::set_store_waits(Nanoseconds sync, Nanoseconds longest_wait) noexcept {
    store_interval_ = sync;
    store_longest_ = std::max(longest_wait, sync);
}

bool Ledger::is_cut_off(const Account& account, Credit missing) const noexcept {
    return is_of_cluster(account) && keeps_total(account) &&
           (missing == Credit::NoRecord || store_->down.raised() || store_->over_budget.raised() ||
            box_credit(account.slot) == 0);
}

std::uint32_t Ledger::times_without_credit(LimitSlot slot) const noexcept {
    const ClusterBound& bound = bounds_[slot];
    if (!store_->down.raised() && !is_recovering_) {
        return bound.machines;
    }
    return bound.closed_down ? kClosed : bound.times_down;
}

bool Ledger::is_store_down() noexcept {
    const bool down = store_->down.raised();
    outages_ += down && !was_down_ ? 1 : 0;
    was_down_ = down;
    return down;
}

void Ledger::watch_store(Instant now) noexcept {
    const bool down = is_store_down();
    if (down) {
        down_at_ = now;
    }
    is_recovering_ = down_at_ != Instant{} && !down && now - down_at_ < kRecovery;
}

// A local share is of the whole bucket: what the box has spent on credit is, too, once in each
// outage, for all boxes have. Once the store is back units are noted as ever, and only the copy is
// charged for all.
Gcra Ledger::share_locally(const Account& account, const SharedUnits& charge,
                           const BucketState& copy, const Limit& limit, Now now) noexcept {
    const bool is_down = is_store_down();
    const LocalShare* had = local_shares_.find(account);
    BucketState before = copy;
    if (is_down && (had == nullptr || had->outage != outages_)) {
        const std::uint64_t of_others =
            (std::max<std::uint64_t>(charge.times, 1) - 1) * records_.unsynced(account);
        before.bucket = charged_beyond(copy.bucket, limit, of_others, now.at);
    }
    const bool is_noted =
        !is_down && credit(account, charge.units, kMostUnsynced) == Credit::Enough;
    if (is_noted) {
        (void)note(account, charge.units, now, Due::Soon);
    }
    const Gcra after = charged_beyond(
        before.bucket, limit, charge.units * std::max<std::uint64_t>(charge.times, 1), now.at);
    LocalShare* share =
        local_shares_.note(account, is_noted ? 0 : charge.units, before, copy, now.at);
    if (share == nullptr) {
        counters_.count(LedgerEvent::NoRecord);
        return after;
    }
    share->over = after.fresh_from;
    share->outage = is_down ? outages_ : share->outage;
    return after;
}

// A copy's charge beyond the units stays there until its window is over, and is told to nobody:
// `least` is the copy without it.
void Ledger::share_windows_locally(const Account& account, std::uint64_t units,
                                   const BucketState& before, Instant over, Now now) noexcept {
    if (credit(account, units, kMostUnsynced) != Credit::Enough) {
        counters_.count(LedgerEvent::NoRecord);
        return;
    }
    (void)note(account, units, now, Due::Soon);
    // An amount of another worker may be of the window before.
    const Account current = account.in(turn_of(before.counts.epoch));
    LocalShare* share = local_shares_.find(account);
    if (share != nullptr && share->account.turn != current.turn) {
        *share = rolled(*share, current, before);
    }
    share = local_shares_.note(current, 0, before, before, now.at);
    if (share == nullptr) {
        counters_.count(LedgerEvent::NoRecord);
        return;
    }
    share->over = over;
    WindowCounts& least = share->least.counts;
    (account.turn == current.turn ? least.current : least.previous) += units;
}

void Ledger::answer(DeltaLane& lane, const Total& total) noexcept {
    *lane.totals.next() = total;
    lane.totals.commit();
}

}  // namespace sluice
