#include "lib/base/prefetch.hpp"
#include "lib/bucket/meter/any_meter.hpp"
#include "lib/engine/burst/burst_units.hpp"
#include "lib/engine/burst/key_digests.hpp"
#include "lib/engine/stage/stages.hpp"
#include "lib/rules/override_table.hpp"

#include <algorithm>
#include <span>
#include <utility>

// Finds the entries of all look-ups, whose first lines have come meanwhile, and prefetches whatever
// else metering will touch: second lines of keys that are not there, lines of the pool, of the
// table of overrides, and records of the ledger.
namespace sluice {
namespace {

class Locating {
public:
    Locating(Burst& burst, const CoreState& core) noexcept
        : scratch_{burst.scratch()}, plan_{*scratch_.plan}, core_{core} {}

    void find_in_first_lines() noexcept {
        const std::span<BucketLookup> lookups = scratch_.all_lookups();
        BucketLookup** const missed = scratch_.missed.get();
        scratch_.miss_count = core_.buckets.keys.probe_first(lookups, missed);
        const BucketLookup* const* next_missed = missed;
        const BucketLookup* const* const missed_end = missed + scratch_.miss_count;
        for_each_with_state([&](std::size_t row, const BucketLookup& lookup) {
            next_missed = std::find_if(next_missed, missed_end,
                                       [&](const auto* other) { return other >= &lookup; });
            if (next_missed != missed_end && *next_missed == &lookup) {
                prefetch_override(row, lookup);  // its second line is on its way
            } else {
                prefetch_more(row, lookup, *lookup.entry);
            }
        });
    }

    // Finds entries in second lines, which have come meanwhile too.
    void find_in_second_lines() const noexcept {
        for_each_missed([&](std::size_t row, const BucketLookup& lookup) {
            const Entry* entry = BucketTable::in_asked(lookup.entry, lookup.key);
            prefetch_more(row, lookup, entry == nullptr ? kNone : *entry);
        });
    }

    // Prefetches queues of states whose line has come meanwhile.
    void prefetch_queues() const noexcept {
        for_each_with_state([&](std::size_t /*row*/, const BucketLookup& lookup) {
            const LimitPlan& limit = plan_.limits[lookup.limit];
            if (limit.has_queue && is_found(lookup, *lookup.entry) &&
                !lookup.entry->has_own_numbers()) {
                prefetch_oldest(lookup.entry->cell(), *limit.numbers,
                                core_.buckets.registry.pool());
            }
        });
    }

    // While limits coarsen, the wider keys of what is in neither line, with their own lines; and
    // the wider keys of states that may want a line when there is none.
    void prefetch_wider(const Burst& burst) const noexcept {
        scratch_.widened = rows_without_line();
        for_each_absent([&](std::size_t row, const BucketLookup&, const CoarserPlan&) {
            scratch_.widened |= row_bit(row);
        });
        if (scratch_.widened == 0) {
            return;
        }
        digest_wider(burst);
        for_each_absent(
            [&](std::size_t row, const BucketLookup& lookup, const CoarserPlan& coarser) {
                const LimitPlan& limit = plan_.limits[lookup.limit];
                for (const std::uint32_t schema : coarser.schemas) {
                    const std::uint64_t digest = scratch_.digests[schema][row];
                    (void)core_.buckets.parents.prefetch_both(
                        {KeyHasher::key_from(limit.start, digest), limit.slot});
                }
            });
    }

    // Prefetches records: what leads to them has come meanwhile.
    void prefetch_records() const noexcept {
        for_each_with_state([&](std::size_t /*row*/, const BucketLookup& lookup) {
            const LimitPlan& limit = plan_.limits[lookup.limit];
            if (limit.meter == FastMeter::Shared) {
                core_.ledger->prefetch_record({lookup.key.hash, limit.slot, 0});
            }
        });
    }

private:
    static constexpr Entry kNone{};

    // All of the rows that have one whose entry is not all there is of its state or policy.
    template <typename Visit>
    [[gnu::always_inline]] void for_each_with_state(Visit&& visit) const noexcept {
        const BucketLookup* const lookups = scratch_.lookups.get();
        for_each_row(scratch_.with_state | scratch_.overridden, [&](std::size_t row) {
            for (std::uint32_t at = scratch_.first[row]; at != scratch_.first[row + 1]; ++at) {
                visit(row, lookups[at]);
            }
        });
    }

    // Not in their first lines.
    template <typename Visit>
    [[gnu::always_inline]] void for_each_missed(Visit&& visit) const noexcept {
        const BucketLookup* const lookups = scratch_.lookups.get();
        std::size_t row = 0;
        for (const BucketLookup* lookup : std::span{scratch_.missed.get(), scratch_.miss_count}) {
            while (lookup >= lookups + scratch_.first[row + 1]) {
                ++row;
            }
            visit(row, *lookup);
        }
    }
    // Visits missed look-ups of limits that coarsen.
    template <typename Visit>
    void for_each_absent(Visit&& visit) const noexcept {
        for_each_missed([&](std::size_t row, const BucketLookup& lookup) {
            const std::uint32_t number = plan_.limits[lookup.limit].coarser;
            if (number != 0 && BucketTable::in_asked(lookup.entry, lookup.key) == nullptr) {
                visit(row, lookup, plan_.coarser[number - 1]);
            }
        });
    }
    // The rows of states with a queue, while the pool has no line.
    [[nodiscard]] RowMask rows_without_line() const noexcept {
        RowMask rows = 0;
        if (plan_.has_queues && !core_.buckets.registry.pool().has_line()) {
            for (const ActiveLimit& active :
                 std::span{scratch_.limits.get(), scratch_.limit_count}) {
                const LimitPlan& limit = plan_.limits[active.limit];
                rows |= limit.has_queue && limit.coarser != 0 ? active.rows : 0;
            }
        }
        return rows;
    }
    // Digests wider keys of all limits that coarsen, in the rows with an absent key: others may be
    // by the time that they are decided.
    void digest_wider(const Burst& burst) const noexcept {
        for_each_wider([&](std::uint32_t schema, RowMask rows) { scratch_.keyed[schema] |= rows; });
        for_each_wider([&](std::uint32_t schema, RowMask) {
            if (const RowMask rows = std::exchange(scratch_.keyed[schema], 0); rows != 0) {
                (void)digest_keys(plan_.schemas[schema], {burst.frames(), burst.headers(), rows},
                                  core_.hash, scratch_.digests[schema]);
            }
        });
    }
    template <typename Visit>
    void for_each_wider(Visit&& visit) const noexcept {
        for (const ActiveLimit& active : std::span{scratch_.limits.get(), scratch_.limit_count}) {
            if (const std::uint32_t number = plan_.limits[active.limit].coarser; number != 0) {
                for (const std::uint32_t schema : plan_.coarser[number - 1].schemas) {
                    visit(schema, active.rows & scratch_.widened);
                }
            }
        }
    }

    // `entry`: the look-up's own, or another one if it has none.
    [[gnu::always_inline]] void prefetch_more(std::size_t row, const BucketLookup& lookup,
                                              const Entry& entry) const noexcept {
        const LimitPlan& limit = plan_.limits[lookup.limit];
        switch (limit.meter) {
            case FastMeter::Pooled:
            case FastMeter::Values:
            case FastMeter::General:
                if (limit.gcra == nullptr && is_found(lookup, entry)) {
                    prefetch_line(entry);
                }
                return;
            case FastMeter::Overridden:
                prefetch_overridden(limit, row, lookup, entry);
                return;
            case FastMeter::Shared:
                if (limit.overrides != nullptr) {
                    limit.overrides->prefetch(scratch_.digests[limit.schema][row]);
                }
                prefetch_account(limit, lookup, entry);
                return;
            default:
                return;
        }
    }

    // For a key without a bucket in its first line: few have one in the second.
    [[gnu::always_inline]] void prefetch_override(std::size_t row,
                                                  const BucketLookup& lookup) const noexcept {
        const LimitPlan& limit = plan_.limits[lookup.limit];
        if (limit.meter == FastMeter::Overridden) {
            limit.overrides->prefetch(scratch_.digests[limit.schema][row]);
        }
    }
    [[nodiscard]] static bool is_found(const BucketLookup& lookup, const Entry& entry) noexcept {
        return entry.slot_and_tag() == lookup.key.slot_and_tag;
    }
    [[gnu::always_inline]] void prefetch_line(const Entry& entry) const noexcept {
        const LinePool& pool = core_.buckets.registry.pool();
        prefetch0(pool.line_for(entry.cell().rest));
    }

    // One line at the most: of numbers of its own, or of the table of overrides; none of a key that
    // is known to have none.
    [[gnu::always_inline]] void prefetch_overridden(const LimitPlan& limit, std::size_t row,
                                                    const BucketLookup& lookup,
                                                    const Entry& entry) const noexcept {
        if (is_found(lookup, entry)) {
            if (entry.has_own_numbers()) {
                prefetch_line(entry);
                return;
            }
            if (entry.known_unoverridden(core_.buckets.registry.override_generation())) {
                return;
            }
        }
        limit.overrides->prefetch(scratch_.digests[limit.schema][row]);
    }

    // An account whose bucket has a lease needs no record.
    [[gnu::always_inline]] void prefetch_account(const LimitPlan& limit, const BucketLookup& lookup,
                                                 const Entry& entry) const noexcept {
        if (!is_found(lookup, entry) || lookup.units > entry.lease()) {
            core_.ledger->prefetch({lookup.key.hash, limit.slot, 0});
        }
    }

    Scratch& scratch_;
    const MeterPlan& plan_;
    const CoreState& core_;
};

}  // namespace

void locate_burst(Burst& burst, const CoreState& core) noexcept {
    if (burst.scratch().first[kMaxBurst] != 0) {
        Locating{burst, core}.find_in_first_lines();
    }
    if (burst.units() != nullptr) [[unlikely]] {
        for (Burst& further : burst.units()->further()) {
            locate_burst(further, core);
        }
    }
}

namespace {

// Some key is in neither line, or may want more than its own has.
bool may_be_wider(const Scratch& scratch) noexcept {
    return scratch.miss_count != 0 || (scratch.first[kMaxBurst] != 0 && scratch.plan->has_queues);
}

}  // namespace

void locate_second(Burst& burst, const CoreState& core) noexcept {
    const Scratch& scratch = burst.scratch();
    if ((scratch.with_state | scratch.overridden) != 0) {
        const Locating locating{burst, core};
        locating.find_in_second_lines();
        if (scratch.plan->has_queues) [[unlikely]] {
            locating.prefetch_queues();
        }
        if (scratch.plan->has_shared && core.ledger != nullptr) [[unlikely]] {
            locating.prefetch_records();
        }
    }
    if (core.buckets.coarsens() && may_be_wider(scratch)) [[unlikely]] {
        Locating{burst, core}.prefetch_wider(burst);
    }
    if (burst.units() != nullptr) [[unlikely]] {
        for (Burst& further : burst.units()->further()) {
            locate_second(further, core);
        }
    }
}

}  // namespace sluice
