#pragma once
#include "lib/base/lazy_array.hpp"
#include "lib/bucket/table/bucket_store.hpp"
#include "lib/peer/merge/connection_gauges.hpp"
#include "lib/peer/merge/ledger.hpp"

#include <optional>
#include <span>

namespace sluice {

// The buckets of a core as the ledger sees them: token and leaky buckets, windows and
// sub-windows, those of keys and those that full rules coarsen to.
class LedgerStore {
public:
    explicit LedgerStore(BucketStore& store);

    [[gnu::always_inline]] void prefetch(const Account& account) const noexcept {
        if (account.aggregation_level == 0) {
            (void)store_.keys.prefetch_both(account.table_key());
        }
    }
    [[nodiscard]] std::uint64_t recall(const Account& account) noexcept;
    [[nodiscard]] Leasing leasing(const Account& account) const noexcept;
    void grant(const Account& account, std::uint32_t units) noexcept;
    [[nodiscard]] bool shares(const Account& account) const noexcept {
        return limit_of(account) != nullptr;
    }
    [[nodiscard]] BucketState copy_of(const Account& account, Now now) noexcept;
    [[nodiscard]] bool apply(const Delta& delta, Now now, BucketState& total) noexcept;
    [[nodiscard]] bool raise(const Account& account, const BucketState& total, const More& more,
                             Now now) noexcept;

    [[nodiscard]] bool renew(const Account& account, const BucketState& total, const More& more,
                             Now now) noexcept {
        return raise_tallied(account, {total.tally, more.current, more.newest, true}, now);
    }
    [[nodiscard]] std::uint64_t newest(const Account& account, Now now) noexcept;
    [[nodiscard]] std::size_t earlier(const Account& account, std::span<SubWindow> places,
                                      Now now) noexcept;
    void move_back(const Account& account, const SubWindow& earlier, Now now) noexcept;

    [[nodiscard]] StoreNumbers store_numbers(const Account& account) const noexcept;
    // A window's number, as the store has it.
    [[nodiscard]] std::int64_t store_epoch(const Account& account, std::int64_t epoch,
                                           Now now) const noexcept;
    // Open connections of limits of the cluster; they outlive it. nullptr: there are none.
    void set_gauges(ConnectionGauges* gauges) noexcept { gauges_ = gauges; }
    void take_gauge(const StoreTotal& total) noexcept;
    void tell_gauges(Now now) noexcept;
    [[nodiscard]] Due due(const Account& account, std::uint64_t units, Now now) noexcept;
    [[nodiscard]] BucketState state_at_store(const StoreTotal& total, Now now) const noexcept;
    [[nodiscard]] bool is_beyond_clock(const StoreTotal& total, Now now) const noexcept;
    [[nodiscard]] std::uint64_t owed(const Account& account, Now now) noexcept;
    [[nodiscard]] std::optional<std::uint64_t> owed_by(const Account& account,
                                                       const BucketState& state,
                                                       Now now) const noexcept;
    [[nodiscard]] const Limit* bucket_limit(const Account& account) const noexcept;
    void charge(BucketState& state, const Account& account, std::uint64_t units,
                Now now) const noexcept;

    // By how many units, at most, totals kept here were ever beyond a full bucket, or beyond the
    // count, when an amount had been added: what was measured of what DESIGN.md promises. By slot.
    [[nodiscard]] const Counter& worst_excess(LimitSlot slot) const noexcept {
        return worst_[slot];
    }

private:
    [[nodiscard]] const AnyLimit* limit_of(const Account& account) const noexcept;
    [[nodiscard]] Entry* leasable(const Account& account) const noexcept;
    [[nodiscard]] Entry* find(const Account& account, Now now) noexcept;
    [[nodiscard]] Entry* find_or_place(const Account& account, const AnyLimit& limit,
                                       Now now) noexcept;
    [[nodiscard]] Entry* place(const Account& account, const AnyLimit& limit, Now now) noexcept;
    [[nodiscard]] Entry* idle_place(const Account& account, Now now) noexcept;
    [[nodiscard]] bool open(Cell& cell, const Account& account, const AnyLimit& limit,
                            Now now) noexcept;
    void write(Entry& entry, const Cell& cell) noexcept;
    // Buckets may have used more than the numbers in force allow.
    [[nodiscard]] bool is_lowered(const Account& account) const noexcept {
        return store_.registry.row(account.slot).latest.lowered;
    }
    // By how many units more than its limit allows an amount left a bucket, and had found it.
    void note_excess(LimitSlot slot, std::uint64_t before, std::uint64_t after) noexcept;

    [[nodiscard]] bool apply_counts(const Delta& delta, const AnyLimit& limit, Now now) noexcept;
    [[nodiscard]] bool apply_tallied(const Delta& delta, const AnyLimit& limit, Now now) noexcept;
    [[nodiscard]] bool raise_tallied(const Account& account, const TallyTotal& to,
                                     Now now) noexcept;
    [[nodiscard]] bool raise_counts(const Account& account, const AnyLimit& limit,
                                    const WindowCounts& total, Now now) noexcept;

    [[nodiscard]] std::uint64_t open_connections(const Account& account, Now now) noexcept;
    // Tells `gauges_` of keys that had connections before it counted them, some entries a turn.
    void seek_open(Now now) noexcept;
    void note_open(const Entry& entry, Now now) noexcept;

    BucketStore& store_;
    ConnectionGauges* gauges_ = nullptr;
    std::size_t sought_ = 0;  // entries of `keys`
    Instant sought_at_{};
    LazyArray<Counter> worst_;
};

}  // namespace sluice
