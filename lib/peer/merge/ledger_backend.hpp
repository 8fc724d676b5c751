#pragma once
#include "lib/base/now.hpp"
#include "lib/peer/merge/message.hpp"
#include "lib/peer/merge/store_message.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

// The keeper of a worker's buckets, as a ledger needs it.
namespace sluice {

// Facts that a lease on a copy depends on.
struct Leasing {
    std::uint64_t max_unsynced = 0;  // 0: it may have none
    Instant fresh_from{};
};

// The keeper of the buckets.
template <typename B>
concept LedgerBackend =
    requires(B& ledger_store, const B& fixed, const Account& account, const Delta& delta,
             const BucketState& state, Now now, BucketState& total) {
        fixed.prefetch(account);
        // What a lease on the worker's own copy has left, which ends; whether it may have another
        // one; and that it has.
        { ledger_store.recall(account) } -> std::same_as<std::uint64_t>;
        { ledger_store.leasing(account) } -> std::same_as<Leasing>;
        ledger_store.grant(account, std::uint32_t{});
        // True if the limit is one that workers share, under the rules in force.
        { fixed.shares(account) } -> std::same_as<bool>;
        // The worker's own copy; one that has been forgotten is as good as fresh.
        { ledger_store.copy_of(account, now) } -> std::same_as<BucketState>;
        // Charges an amount to the total, if its window counts still, and tells the total. False:
        // there is no place for it, or the limit is not known.
        { ledger_store.apply(delta, now, total) } -> std::same_as<bool>;
        // The copy owes at least what a total says and `more`. False: there is no place for it, or
        // the total was written under other numbers.
        { ledger_store.raise(account, state, More{}, now) } -> std::same_as<bool>;
    };

// And books of limits that count in sub-windows.
template <typename B>
concept TallyBackend =
    requires(B& ledger_store, const Account& account, const BucketState& state, Now now) {
        // What the total is made of: the newest sub-window, and all others; how many places are
        // filled.
        { ledger_store.newest(account, now) } -> std::same_as<std::uint64_t>;
        { ledger_store.earlier(account, std::span<SubWindow>{}, now) } -> std::same_as<std::size_t>;
        // The copy is the total and `more`, all of it as if spent now; then, from the oldest on,
        // what was spent earlier.
        { ledger_store.renew(account, state, More{}, now) } -> std::same_as<bool>;
        ledger_store.move_back(account, SubWindow{}, now);
    };

// And of limits that the boxes of a cluster share.
template <typename B>
concept StoreBackend = requires(B& ledger_store, const B& fixed, const Account& account,
                                const StoreTotal& total, BucketState& state, Now now) {
    // Numbers by which the store counts the account.
    { fixed.store_numbers(account) } -> std::same_as<StoreNumbers>;
    { fixed.store_epoch(account, std::int64_t{}, now) } -> std::same_as<std::int64_t>;
    // When units are due that the copy is charged.
    { ledger_store.due(account, std::uint64_t{}, now) } -> std::same_as<Due>;
    // A copy of which that is what the store says it owes, as of now.
    { ledger_store.state_at_store(total, now) } -> std::same_as<BucketState>;
    // The store has a window that is yet to come, and not the next, by the box's clock.
    { fixed.is_beyond_clock(total, now) } -> std::same_as<bool>;
    // Units that the copy owes, rounded up; of windows, those of the account's.
    { ledger_store.owed(account, now) } -> std::same_as<std::uint64_t>;
    // The same of a state that its copy had; nullopt: its numbers are others by now. And a charge
    // of such a state.
    { ledger_store.owed_by(account, state, now) } -> std::same_as<std::optional<std::uint64_t>>;
    ledger_store.charge(state, account, std::uint64_t{}, now);
    // nullptr: it is of no bucket.
    { fixed.bucket_limit(account) } -> std::same_as<const Limit*>;
    // Gauges (ConnectionGauges): an answer, and what is due.
    ledger_store.take_gauge(total);
    ledger_store.tell_gauges(now);
};

}  // namespace sluice
