#pragma once
#include "lib/bucket/meter/any_meter.hpp"
#include "lib/bucket/table/previous_tables.hpp"
#include "lib/bucket/table/worker_tables.hpp"

#include <span>

// The debt of keys in buckets that their own worker does not write: one source for whoever files,
// judges, shows or resets a key.
//
//   earlier processes    the tables of another shape that they left (PreviousTables)
//   former slots         what any worker has under the slots that the limit had before its keys
//                        moved (WorkerTables); nobody charges it any more
//   other workers        what they have under the limit's own slot, while its keys move: they may
//                        go on charging it
//
// Of the first two a key takes over what it owes as it is filed, once: what it took over lasts as
// long, so whoever finds the key in a table asks here no more. They are over when no table has an
// entry and no worker an amount of the slot, or `until` has passed (an earlier process's).
namespace sluice {

class RemoteDebt {
public:
    // `store` is the own worker's, and knows the limits.
    RemoteDebt(const BucketStore& store, Now now) noexcept : store_{store}, now_{now} {}

    // True if a key of that limit may owe anything in buckets that are charged no more.
    [[nodiscard]] bool is_possible(LimitSlot slot) const noexcept {
        return store_.previous() != nullptr || !moved(slot).empty();
    }

    // How much that is, as if all of it were used now.
    [[nodiscard]] Units used(const BucketAt& at) const noexcept;
    // The instant from which none of it is owed; one that has passed where nothing is.
    [[nodiscard]] Instant fresh_from(const BucketAt& at) const noexcept;
    // The sources that had a debt.
    struct Taken {
        bool in_earlier = false;
        bool at_workers = false;
    };
    // Charges a bucket that is about to be filed with it, exactly where that can be told. `cell` is
    // fresh, or owes less.
    Taken charge_to(Cell& cell, const AnyLimit& numbers, const BucketAt& at,
                    LinePool& pool) const noexcept;
    // The same for what a wider key owes: in units, since it is not this key's own.
    Taken charge_wider_to(Cell& cell, const AnyLimit& numbers, const BucketAt& wider,
                          LinePool& pool) const noexcept;
    // True if any wider key may owe something there.
    [[nodiscard]] bool is_coarsened() const noexcept {
        return others_coarsened() || store_.former_coarsened(now_.at);
    }
    // True if some of it is on its way to its owner, whose bucket will owe it; once it has arrived
    // under a slot that nobody charges any more, nothing else is.
    [[nodiscard]] bool arrives(const BucketAt& at) const noexcept;
    // Ends it: it has been charged to a wider key, or given back. Of keys, not of a rule.
    void end(const BucketAt& at) const noexcept;

    // The units that other workers hold under the own slot, and may go on charging.
    [[nodiscard]] Units held_by_others(const BucketAt& at) const noexcept;
    // True if one of them has an entry of it.
    [[nodiscard]] bool others_have(const BucketAt& at) const noexcept;
    // True if a wider key at any worker may owe something.
    [[nodiscard]] bool others_coarsened() const noexcept;

    // The rest of a ban of the key under its slot and those before: in tables of earlier processes;
    // at all workers. 0: none.
    [[nodiscard]] Nanoseconds ban_in_earlier(const TableKey& key) const noexcept;
    [[nodiscard]] Nanoseconds ban_at_workers(const TableKey& key) const noexcept;

private:
    [[nodiscard]] std::span<const MigratedFrom> moved(LimitSlot slot) const noexcept {
        return store_.registry.row(slot).moved();
    }
    void take_values(Cell& cell, const DistinctLimit& limit, const BucketAt& at,
                     LinePool& pool) const noexcept;
    [[nodiscard]] Units used_in_earlier(const BucketAt& at, const Owed& before,
                                        const AnyLimit* present = nullptr) const noexcept;
    [[nodiscard]] Owed meter_in_earlier(const BucketAt& at) const noexcept;
    [[nodiscard]] Owed owed_before(const BucketAt& at) const noexcept;

    const BucketStore& store_;
    Now now_;
};

}  // namespace sluice
