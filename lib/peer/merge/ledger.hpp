#pragma once
#include "lib/base/lazy_array.hpp"
#include "lib/base/now.hpp"
#include "lib/peer/merge/cluster_bound.hpp"
#include "lib/peer/merge/counters.hpp"
#include "lib/peer/merge/delta_lane.hpp"
#include "lib/peer/merge/hurried_records.hpp"
#include "lib/peer/merge/ledger_backend.hpp"
#include "lib/peer/merge/local_shares.hpp"
#include "lib/peer/merge/record_pool.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

// One limit over many workers, as one of them sees it: amounts out, totals back.
//
//      worker                            owner of the account
//   charge own copy
//   unsynced += cost   -- Amount -->   total += amount
//   copy = max(copy,                   done with the amount, and, if the
//     total + unsynced) <-- Total --   sender's copy owes less: the total
//   unsynced -= amount
//
// What is promised, and why, is in DESIGN.md. No clock, no thread, no packet: driven by exchange().
namespace sluice {

enum class Credit : std::uint8_t { Enough, UsedUp, NoRecord };

class Ledger {
public:
    // Messages of one kind from one worker that one exchange() handles.
    static constexpr std::size_t kBatch = 32;
    // Workers that one exchange() hears.
    static constexpr std::size_t kOthersAtOnce = 8;
    // What the policy `open` adds to without credit stays below this.
    static constexpr std::uint64_t kMostUnsynced = std::uint64_t{1} << 31;
    // For how long what is due late may wait; and what says that it waits no longer than the rest.
    static constexpr Nanoseconds kLongestWait{4'000'000'000};
    static constexpr Nanoseconds kNoLonger{0};
    // The same of what the store is told, which no verdict of another box depends on yet.
    static constexpr Nanoseconds kLongestStoreWait{30'000'000'000};

    // After the store is back, for so long a box goes by its local share yet: meanwhile others come
    // back, too, and tell what they have spent.
    static constexpr Nanoseconds kRecovery{1'500'000'000};

    // `memory` is zeroes, or what the ledger of this worker left there. It bounds the accounts with
    // unsynced amounts: credit() says NoRecord when none is free. Every account's slot is below
    // `slots`.
    Ledger(std::size_t me, DeltaLanes& lanes, std::span<Record> memory, Instant now,
           std::size_t slots = kSlots)
        : me_{me},
          lanes_{lanes},
          store_{lanes.store(me)},
          alone_{me},
          bounds_{zeroed_array<ClusterBound>(store_ == nullptr ? 1 : slots)},
          slots_{store_ == nullptr ? 0 : slots},
          local_shares_{store_ != nullptr},
          records_{memory, {lanes.workers(), me, store_ != nullptr}, now, slots},
          incoming_(lanes.workers()),
          next_other_{me} {
        if (store_ != nullptr) {
            set_store_waits(store_->terms.sync);
        }
        for (std::size_t owner = 0; owner < lanes.workers(); ++owner) {
            first_own_.push_back(owner == me ? 0 : lanes.between(me, owner).deltas.written());
        }
    }

    // The owner's copy is the total: it is charged, and that is all. Of a limit of the cluster the
    // store has the total, and nobody in the box owns anything.
    [[nodiscard]] bool owns(const Account& account) const noexcept {
        return keeps_total(account) && !is_of_cluster(account);
    }
    // The same, but false of every account while there are limits of the cluster: without a look at
    // the slot, for whoever asks about each packet.
    [[nodiscard]] bool owns_surely(const Account& account) const noexcept {
        return owner_of(account, lanes_.workers()) == alone_;
    }
    // The box's total of it is this worker's, whether the cluster has another one or not.
    [[nodiscard]] bool keeps_total(const Account& account) const noexcept {
        return owner_of(account, lanes_.workers()) == me_;
    }

    // The limits of the cluster, by slot.
    void set_cluster(std::span<const ClusterBound> bounds) noexcept;
    [[nodiscard]] bool has_cluster() const noexcept { return alone_ != me_; }
    // The bucket of a whole rule, to which a full table coarsens, has no name that boxes share: its
    // hash is 0 under every limit, and a slot is one of this box.
    [[nodiscard]] bool is_of_cluster(const Account& account) const noexcept {
        return has_cluster() && account.hash != 0 && bounds_[account.slot].box_unsynced != 0;
    }
    // Units that this worker may have spent of an account which its peer has not confirmed, if
    // workers may have so many of the account.
    [[nodiscard]] std::uint64_t bound_of(const Account& account,
                                         std::uint64_t max_unsynced) const noexcept {
        return is_of_cluster(account) && keeps_total(account) ? box_credit(account.slot)
                                                              : max_unsynced;
    }
    // U_m; none of windows while the box's clock is not the store's, nor where the store has just
    // come back and others may still go by their local share.
    [[nodiscard]] std::uint64_t box_credit(LimitSlot slot) const noexcept {
        const ClusterBound& bound = bounds_[slot];
        const bool is_apart = bound.windows && store_->windows_apart.raised();
        return is_apart || (is_recovering_ && bound.times_down > 1) ? 0 : bound.box_unsynced;
    }
    // An account whose total of the box this worker has is judged without credit: the store is
    // away, its budget has no room for the account, or there is no record to tell it by.
    [[nodiscard]] bool is_cut_off(const Account& account, Credit missing) const noexcept;
    // Units that a copy is then charged for each one: by `owner_down` (0: it is open) while the
    // store is away, else by the box's share. kClosed: nothing is admitted.
    static constexpr std::uint32_t kClosed = UINT32_MAX;
    [[nodiscard]] std::uint32_t times_without_credit(LimitSlot slot) const noexcept;
    // Charges the copy of a bucket for what `owner_down` has admitted, and notes what the store is
    // to be told of it; the bucket after that.
    // `times` as times_without_credit() said when the charge was judged.
    [[nodiscard]] Gcra share_locally(const Account& account, const SharedUnits& charge,
                                     const BucketState& copy, const Limit& limit, Now now) noexcept;
    // A local share of windows: notes all of it, before the copy (`before`) is charged for it.
    void share_windows_locally(const Account& account, std::uint64_t units,
                               const BucketState& before, Instant over, Now now) noexcept;
    void count(LedgerEvent event) noexcept { counters_.count(event); }
    // The waits of set(), for amounts to the store.
    void set_store_waits(Nanoseconds sync, Nanoseconds longest_wait = kLongestStoreWait) noexcept;

    // How long an amount may wait before it is sent, if it is due soon.
    void set(Nanoseconds merge_interval, Nanoseconds longest_wait = kLongestWait) noexcept;

    // Of an account that another worker owns.

    // What a charge will touch: first where its record would be found, then, once that has come,
    // the record.
    [[gnu::always_inline]] void prefetch(const Account& account) const noexcept {
        records_.prefetch(if_others(account));
    }
    [[gnu::always_inline]] void prefetch_record(const Account& account) const noexcept {
        records_.prefetch_record(if_others(account));
    }

    // Whether `units` may be charged, if at most `max_unsynced` may be unsynced. `promised` counts
    // the packet's earlier charges that credit was granted for. Each may take a record, so a grant
    // holds for all of the packet's charges in that order.
    [[nodiscard]] Credit credit(const Account& account, std::uint64_t units,
                                std::uint64_t max_unsynced,
                                std::size_t promised = 0) const noexcept {
        if (records_.free() <= promised && records_.find(account) == nullptr) {
            return Credit::NoRecord;
        }
        return records_.unsynced(account) + units <= max_unsynced ? Credit::Enough : Credit::UsedUp;
    }

    // A charge that credit() did not allow.
    void count(Credit missing) noexcept;

    // Before the copy is charged, so that who is killed in between has noted too much. kNoRecord:
    // without credit, more cannot be noted.
    std::uint32_t note(const Account& account, std::uint64_t units, Now now, Due due) noexcept {
        if (units + records_.unsynced(account) > kMostUnsynced) {
            return kNoRecord;
        }
        const std::uint32_t record =
            records_.add(account, static_cast<std::uint32_t>(units), now.at, due);
        counters_.in_use.set(records_.in_use());
        return record;
    }
    // After that: tells the owner if half of what may be unsynced is not even sent.
    void send_if_much(std::uint32_t record, std::uint64_t max_unsynced, const BucketState& copy,
                      Now now) noexcept {
        if (record != kNoRecord &&
            2 * std::uint64_t{records_.at(record).unsent()} >= max_unsynced) {
            if (keeps_total(records_.at(record).account())) {
                hurry_to_store(record, now.at);
            } else if (send(record, copy, now)) {
                lanes_.between(me_, owner_of(records_.at(record).account(), lanes_.workers()))
                    .deltas.publish();
            }
        }
    }

    // credit(), note() and send_if_much() for the many that have credit. Before the copy is
    // charged:
    struct Ahead {
        std::uint32_t record = kNoRecord;  // kNoRecord: nothing has been done, credit() says why
        std::uint32_t units = 0;           // that are to be told now; 0: none
        bool again = false;                // something of the account was unsent already
    };
    [[nodiscard]] Ahead go_ahead(const Account& account, std::uint64_t units,
                                 std::uint64_t max_unsynced, Instant now, Due due) noexcept {
        const std::uint32_t index = records_.index_of(account);
        if (index != kNoRecord) {
            const Record& record = records_.at(index);
            const std::uint64_t unsent = record.unsent() + units;
            if (record.unsent() != 0 && record.due() <= due && 2 * unsent < max_unsynced &&
                unsent + record.sent() <= std::min(max_unsynced, kMostUnsynced)) [[likely]] {
                records_.add_more(index, static_cast<std::uint32_t>(units));
                return {index, 0, true};
            }
        }
        return open_ahead(index, account, {units, max_unsynced, due}, now);
    }
    // And after that; the owner sees it at the next exchange().
    void tell(const Ahead& ahead, const Account& account, const BucketState& copy,
              Instant now) noexcept;

    // A lease: units that are noted now, as if they were unsent, and may be charged later without a
    // word, as long as all together need not be told at once. 0: there is none to be had, as where
    // amounts are due soon or records are few. A bucket is not forgotten while it has one, so of
    // those that would be fresh before (`fresh_from`) only few get one.
    [[nodiscard]] std::uint32_t lend(std::uint32_t record, const Leasing& to, Instant now) noexcept;
    // What a lease has left has not been charged.
    void give_back(const Account& account, std::uint64_t units) noexcept;

    // Now and then, between bursts: takes what others have sent, and sends what is due. Bounded: of
    // many workers, the next few.
    template <LedgerBackend B>
    void exchange(B& ledger_store, Now now) noexcept;
    // Asks for the lines that incoming ones need. Whoever calls it a burst before each exchange()
    // finds them there, and hears of a message two bursts later.
    template <LedgerBackend B>
    void ask(B& ledger_store) noexcept;

    // Takes what the store has answered, and tells it what is due.
    template <LedgerBackend B>
    void exchange_with_store(B& ledger_store, Now now) noexcept;

    // Parts of an exchange, one other worker at a time.
    template <LedgerBackend B>
    void take_totals(std::size_t owner, B& ledger_store, Now now) noexcept;
    template <LedgerBackend B>
    void serve(std::size_t sender, B& ledger_store, Now now) noexcept;
    template <LedgerBackend B>
    void send_due(std::size_t owner, B& ledger_store, Now now) noexcept;

    [[nodiscard]] const RecordPool& records() const noexcept { return records_; }
    [[nodiscard]] LedgerCounters& counters() noexcept { return counters_; }
    [[nodiscard]] const LedgerCounters& counters() const noexcept { return counters_; }

private:
    template <LedgerBackend B>
    void take_total(DeltaLane& lane, std::size_t owner, const Total& total, B& ledger_store,
                    Now now) noexcept;
    template <LedgerBackend B>
    [[nodiscard]] bool serve_one(DeltaLane& lane, std::uint64_t number, const Delta& delta,
                                 B& ledger_store, Now now) noexcept;

    // Of the messages of a ring: how many have been seen, and for how many of these what they touch
    // has been asked for. With totals, the mark that was read before each of these: the amounts
    // that their owner was done with.
    struct Incoming {
        std::uint32_t seen = 0;
        std::uint32_t asked = 0;
        std::uint64_t done_seen = 0;
        std::uint64_t done_asked = 0;

        void took() noexcept {
            seen -= asked;
            asked = 0;
        }
    };
    struct Both {
        Incoming totals;
        Incoming deltas;
        std::size_t late_list = 0;  // of the amounts for it, that was looked at last
    };
    template <LedgerBackend B>
    void ask_for_totals(DeltaLane& lane, Incoming& incoming, B& ledger_store) noexcept;
    template <LedgerBackend B>
    void ask_for_deltas(DeltaLane& lane, Incoming& incoming, B& ledger_store) noexcept;
    template <LedgerBackend B>
    void take(std::size_t owner, const Incoming& incoming, B& ledger_store, Now now) noexcept;
    template <LedgerBackend B>
    void serve_first(std::size_t count, std::size_t sender, B& ledger_store, Now now) noexcept;
    [[nodiscard]] std::size_t others_at_once() const noexcept {
        return std::min(lanes_.workers() - 1, kOthersAtOnce);
    }
    [[nodiscard]] std::size_t after(std::size_t other) const noexcept {
        for (;;) {
            other = other + 1 == lanes_.workers() ? 0 : other + 1;
            if (other != me_) {
                return other;
            }
        }
    }
    template <LedgerBackend B>
    void notify_all(DeltaLane& lane, const Total& total, const Account& account, B& ledger_store,
                    Now now) noexcept;
    // Of what this worker owns, always the same place, which is there: without a branch, since
    // nobody can tell one from the other.
    [[nodiscard]] [[gnu::always_inline]] Account if_others(const Account& account) const noexcept {
        const std::uint64_t mask = owns_surely(account) ? 0 : ~std::uint64_t{0};
        return {account.hash & mask, account.slot, account.aggregation_level, account.turn};
    }
    struct Spending {
        std::uint64_t units;
        std::uint64_t max_unsynced;
        Due due;
    };
    [[nodiscard]] Ahead open_ahead(std::uint32_t index, const Account& account,
                                   const Spending& spending, Instant now) noexcept;
    template <LedgerBackend B>
    void send_old(std::size_t owner, std::size_t list, Nanoseconds least, B& ledger_store,
                  Now now) noexcept;
    // The store, as a peer.
    [[nodiscard]] std::size_t store() const noexcept { return lanes_.workers(); }
    // For how long what is in a list of a peer waits: in one of those that are due late, half as
    // long to all of it.
    [[nodiscard]] Nanoseconds wait_of(std::size_t peer, std::size_t list) const noexcept {
        if (list == 0) {
            return peer == store() ? store_interval_ : interval_;
        }
        return (peer == store() ? store_longest_ : longest_) / (2 * RecordPool::kLateLists) *
               static_cast<std::int64_t>(RecordPool::kLateLists + list);
    }
    void give_back(std::uint32_t record, std::uint64_t units) noexcept;
    [[nodiscard]] More more_than(const Total& total, const Delta& delta) const noexcept;
    [[nodiscard]] bool send(std::uint32_t record, const BucketState& copy, Now now) noexcept;
    void settle_below(DeltaLane& lane, std::size_t owner, std::uint64_t number) noexcept;
    // Keys move, so no amount waits longer than another, and none lies anywhere for what may never
    // be charged.
    [[nodiscard]] bool hurries() const noexcept { return longest_ <= interval_; }
    [[nodiscard]] bool may_lend(Instant fresh_from, Nanoseconds longest, Instant now) noexcept;
    template <LedgerBackend B>
    void send_some_due(std::size_t owner, B& ledger_store, Now now) noexcept;
    template <LedgerBackend B>
    void send_list(std::size_t owner, std::size_t list, B& ledger_store, Now now) noexcept;
    template <LedgerBackend B>
    [[nodiscard]] bool send_one(std::uint32_t index, B& ledger_store, Now now) noexcept;
    template <LedgerBackend B>
    void renew_lease(std::uint32_t index, const Account& account, B& ledger_store,
                     Now now) noexcept;
    static void answer(DeltaLane& lane, const Total& total) noexcept;

    // The record has so much unsent that the store is told at the next exchange.
    void hurry_to_store(std::uint32_t record, Instant now) noexcept;
    template <StoreBackend B>
    void take_store_total(const StoreTotal& total, B& ledger_store, Now now) noexcept;
    template <StoreBackend B>
    void declare_if_behind(const StoreTotal& total, B& ledger_store, Now now) noexcept;
    template <StoreBackend B>
    void declare_windows_if_behind(const StoreTotal& total, B& ledger_store, Now now) noexcept;
    template <StoreBackend B>
    void note_local_share(const Account& account, std::uint64_t level, B& ledger_store,
                          Now now) noexcept;
    void watch_store(Instant now) noexcept;
    [[nodiscard]] bool is_store_down() noexcept;
    template <StoreBackend B>
    [[nodiscard]] bool apply_without_store(const Delta& delta, std::uint32_t times, B& ledger_store,
                                           Now now, BucketState& total) noexcept;
    template <StoreBackend B>
    void send_hurried(B& ledger_store, Now now) noexcept;
    template <StoreBackend B>
    [[nodiscard]] bool send_to_store(std::uint32_t index, const BucketState& copy, B& ledger_store,
                                     Now now) noexcept;
    // As the box's owner of an account of the cluster: takes another worker's amount while its own
    // record for the store has room for it.
    template <StoreBackend B>
    [[nodiscard]] bool apply_for_cluster(const Delta& delta, B& ledger_store, Now now,
                                         BucketState& total) noexcept;
    // The copy and what is unsynced of it, after an answer: true where the amount is contained now.
    template <LedgerBackend B>
    [[nodiscard]] bool raise(const Delta& delta, const Total& total, B& ledger_store,
                             Now now) noexcept;

    std::size_t me_;
    DeltaLanes& lanes_;
    StoreLane* store_;  // nullptr: the box is in no cluster
    // This worker, or nobody while there are limits of the cluster.
    std::size_t alone_;
    LazyArray<ClusterBound> bounds_;  // by slot
    std::size_t slots_;               // that there may be
    std::size_t cluster_slots_ = 0;   // below which there may be some of the cluster
    LocalShares local_shares_;
    std::uint32_t outages_ = 0;  // of the store
    bool was_down_ = false;
    Instant down_at_{};           // when the store was last known to be away
    bool is_recovering_ = false;  // from that, for kRecovery after it
    RecordPool records_;
    // Amounts before these were sent in an earlier life: their answers are nobody's.
    std::vector<std::uint64_t> first_own_;
    Nanoseconds interval_{1'000'000};
    Nanoseconds longest_{kLongestWait};
    Nanoseconds store_interval_{100'000'000};
    Nanoseconds store_longest_{kLongestStoreWait};
    std::size_t store_late_list_ = 0;  // that was looked at last
    HurriedRecords hurried_;
    // Leases lent to buckets that might be forgotten before they end, since `lent_since_`.
    std::size_t lent_ = 0;
    Instant lent_since_{};
    std::vector<Both> incoming_;  // by other worker
    std::size_t next_other_;      // that the latest exchange() heard last
    bool asked_ = false;          // for what the next one needs
    LedgerCounters counters_;
};

}  // namespace sluice

#include "lib/peer/merge/exchange.hpp"
#include "lib/peer/merge/exchange_store.hpp"
