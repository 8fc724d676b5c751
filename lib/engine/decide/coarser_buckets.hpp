#pragma once
#include "lib/engine/burst/core_state.hpp"
#include "lib/engine/burst/scratch.hpp"
#include "lib/rules/load/meter_plan.hpp"

#include <cstddef>
#include <optional>
#include <span>

namespace sluice {

// Buckets that stand for keys without a place, in a full table or pool, for the fast path: the
// nearest wider key that has a bucket, at last the rule. It finds what BucketAllocator
// (bucket_allocator.hpp) finds where nothing has to be made, moved or inherited for it.
class CoarserBuckets {
public:
    CoarserBuckets(const Scratch& scratch, const MeterPlan& plan, CoreState& core, Now now) noexcept
        : scratch_{scratch}, plan_{plan}, core_{core}, store_{core.buckets}, now_{now} {}

    // Finds the bucket for a look-up without an entry, or with one whose state has room for a
    // charge but no line, in a row of the burst. False: the general path finds out.
    [[nodiscard]] bool find(const LimitPlan& limit, const BucketLookup& lookup, std::size_t row,
                            CoarserLookup& found) noexcept;
    // True if the look-ups of one packet may be judged here. A state with a queue gives lines back
    // as it is judged, and who began again would find these: so all of them will be, or none.
    [[nodiscard]] bool can_evaluate(std::span<const BucketLookup> lookups,
                                    std::size_t row) noexcept;
    // True if what stands for a key has room for its charge.
    [[nodiscard]] bool has_room(CoarserLookup& found) noexcept;
    // Counts it: it has decided on a packet.
    void count(const CoarserLookup& used) noexcept;
    // Notes that it has been charged.
    void note(const CoarserLookup& charged) noexcept { store_.note_parent(*charged.lookup.entry); }

private:
    // The full resource for which the key gets no bucket of its own; nullopt: it may have one.
    [[nodiscard]] std::optional<TableEvent> what_it_lacks(const LimitPlan& limit,
                                                          const BucketLookup& lookup) noexcept;
    // True if the bucket lies where it was located, under its limit's current numbers.
    [[nodiscard]] static bool is_current(const LimitPlan& limit,
                                         const BucketLookup& lookup) noexcept;
    [[nodiscard]] bool can_evaluate_all(std::span<const BucketLookup> lookups,
                                        std::size_t row) noexcept;
    [[nodiscard]] Conformance check_pooled(const LimitPlan& limit,
                                           const BucketLookup& lookup) noexcept;
    [[nodiscard]] bool take(Entry& entry, const CoarserPlan& coarser,
                            CoarserLookup& found) noexcept;

    const Scratch& scratch_;
    const MeterPlan& plan_;
    CoreState& core_;
    BucketStore& store_;
    Now now_;
};

}  // namespace sluice
