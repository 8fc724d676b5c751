#pragma once
#include "lib/load/meter_plan.hpp"
#include "lib/pipeline/core_state.hpp"
#include "lib/pipeline/scratch.hpp"

#include <cstddef>

namespace sluice {

// What stands for keys without a place in a full table, for the fast path: the nearest wider key
// that has a bucket, at last the rule. It finds what BucketAllocator (bucket_allocator.hpp) finds
// where nothing has to be made, moved or inherited for it.
class CoarserBuckets {
public:
    CoarserBuckets(const Scratch& scratch, const MeterPlan& plan, CoreState& core, Now now) noexcept
        : scratch_{scratch}, plan_{plan}, core_{core}, store_{core.buckets}, now_{now} {}

    // Of a look-up without an entry, in a row of the burst. False: the general path finds out.
    [[nodiscard]] bool find(const LimitPlan& limit, const BucketLookup& lookup, std::size_t row,
                            CoarserLookup& found) noexcept;
    // It has decided on a packet.
    void count(const CoarserLookup& used) noexcept;
    // It has been charged.
    void note(const CoarserLookup& charged) noexcept { store_.note_parent(*charged.lookup.entry); }

private:
    [[nodiscard]] bool has_no_place(const LimitPlan& limit, const BucketLookup& lookup,
                                    std::size_t row) noexcept;
    [[nodiscard]] bool take(Entry& entry, const CoarserPlan& coarser,
                            CoarserLookup& found) noexcept;

    const Scratch& scratch_;
    const MeterPlan& plan_;
    CoreState& core_;
    BucketStore& store_;
    Now now_;
};

}  // namespace sluice
