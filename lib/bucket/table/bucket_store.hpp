#pragma once
#include "lib/bucket/table/bucket_table.hpp"
#include "lib/bucket/table/limit_registry.hpp"
#include "lib/bucket/table/store_layout.hpp"
#include "lib/bucket/table/unsynced_units.hpp"
#include "lib/share/word.hpp"

#include <algorithm>
#include <cstddef>

// All buckets of one core, and what stands in for them when there is no place:
//
//   keys      a table that ordinary keys fill
//   parents   a sixteenth as large again, which ordinary keys cannot take: what full rules coarsen
//   of rules  one bucket per limit, always there: the last step
namespace sluice {

class PreviousTables;
class WorkerTables;

class BucketStore {
public:
    // Room for `keys` live keys, and `pool_lines` lines of 64 bytes for states that do not fit an
    // entry. Aborts if there is no memory.
    BucketStore(std::size_t keys, std::size_t pool_lines);
    // In memory of somebody else that holds what an earlier process left, or zeroes.
    explicit BucketStore(const StoreMemory& memory);

    // The entries that were found of an earlier process.
    struct Found {
        std::uint64_t live = 0;     // entries that go on
        std::uint64_t mended = 0;   // that a change had been half done to
        std::uint64_t unknown = 0;  // of limits that nobody knows: forgotten
        std::uint64_t damaged = 0;  // that cannot be true: they owe a full debt
    };
    // Before the first burst, and before anybody else looks: makes whole what an earlier process
    // left at any instant, and counts it in. `rows` are the limits of the set that will be adopted
    // first. One pass over all memory.
    [[nodiscard]] Found recover(std::span<const SlotRow> rows, Now now);

    // The limits of the rule set in force, from the top of a burst on; `rows` outlives its use.
    // No bucket that the set's limits write is in debt for longer than `longest_debt`.
    void adopt(std::span<const SlotRow> rows, std::uint64_t changes, Nanoseconds longest_debt,
               Now now) noexcept;

    // Once per burst, before its first look. True when every entry has been seen once more since it
    // last was.
    [[nodiscard]] bool begin_burst(Now now) noexcept;
    // How many of the changes of numbers every entry has been brought under.
    [[nodiscard]] std::uint64_t settled_changes() const noexcept { return settled_; }

    // True if any parent may still owe something: only then must a new key ask them.
    // Anybody may ask.
    [[nodiscard]] bool coarsened(Instant now) const noexcept {
        return now.time_since_epoch().count() < static_cast<std::int64_t>(load_word(coarse_until_));
    }
    // The same as of the latest burst, for stages that have no time.
    [[nodiscard]] bool coarsens() const noexcept { return coarsens_; }
    void note_parent(const Entry& parent) noexcept { coarsened_until(parent.fresh_from()); }

    // The bucket that stands for the whole rule.
    [[nodiscard]] Entry& rule_entry(LimitSlot slot) noexcept {
        return static_cast<Entry*>(rules_.data())[slot];
    }
    [[nodiscard]] const Entry& rule_entry(LimitSlot slot) const noexcept {
        return static_cast<const Entry*>(rules_.data())[slot];
    }

    // Tables of earlier processes that new keys are to be looked up in; nullptr: none, or no more.
    // This store is that core's.
    void set_previous_tables(PreviousTables* previous, std::size_t core) noexcept;
    [[nodiscard]] const PreviousTables* previous() const noexcept { return previous_; }
    // True if any parent in them may still owe something.
    [[nodiscard]] bool former_coarsened(Instant now) const noexcept;

    // The tables of all workers of this process, this one's too: a key whose packets have come to
    // another worker until now is filed with what it owes there. nullptr: there are no others.
    void set_worker_tables(const WorkerTables* worker_tables) noexcept;
    [[nodiscard]] const WorkerTables* worker_tables() const noexcept { return worker_tables_; }
    // The place of this worker among them.
    [[nodiscard]] std::size_t worker() const noexcept { return worker_; }

    // Units that this core has charged and owners may not know yet; nullptr: it shares no limit.
    void set_unsynced(const UnsyncedUnits* unsynced) noexcept { unsynced_ = unsynced; }
    [[nodiscard]] const UnsyncedUnits* unsynced() const noexcept { return unsynced_; }
    // Accounts of a limit that have any.
    [[nodiscard]] std::uint64_t unsynced_accounts_of(LimitSlot slot) const noexcept {
        return unsynced_ == nullptr ? 0 : unsynced_->accounts_of(slot);
    }

    BucketTable keys;
    BucketTable parents;
    LimitRegistry registry;

private:
    friend class StoreWalk;
    void begin_round() noexcept;
    void end_round(Now now) noexcept;
    void sweep_rules(Now now) noexcept;
    void leave_former(Now now) noexcept;
    void coarsened_until(Instant until) noexcept {
        const auto ns = static_cast<std::uint64_t>(until.time_since_epoch().count());
        store_word(coarse_until_, std::max(coarse_until_, ns));
    }

    LineMemory rules_;
    std::size_t round_;  // steps it takes to see every entry
    std::size_t swept_rule_ = 0;
    std::size_t steps_ = 0;       // since every entry was last seen
    std::uint64_t settling_ = 0;  // changes there were when the round began
    std::uint64_t settled_ = 0;
    std::uint64_t coarse_until_ = 0;  // an instant
    bool coarsens_ = false;
    const WorkerTables* worker_tables_ = nullptr;
    std::size_t worker_ = 0;
    const UnsyncedUnits* unsynced_ = nullptr;
    PreviousTables* previous_ = nullptr;
    Instant former_until_{};
    Instant former_coarse_until_{};
    std::size_t core_ = 0;
};

}  // namespace sluice
