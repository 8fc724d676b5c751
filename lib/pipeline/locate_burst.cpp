#include "lib/base/prefetch.hpp"
#include "lib/pipeline/burst_units.hpp"
#include "lib/pipeline/stages.hpp"
#include "lib/rules/override_table.hpp"

#include <span>

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
        if (!plan_.touches_more) {
            return;
        }
        missed[scratch_.miss_count] = nullptr;
        const BucketLookup* const* next_missed = missed;
        for_each_lookup([&](std::size_t row, const BucketLookup& lookup) {
            if (*next_missed == &lookup) {
                ++next_missed;  // its second line is on its way
                prefetch_override(row, lookup);
            } else {
                prefetch_more(row, lookup, *lookup.entry);
            }
        });
    }

    // Those that lie in second lines, which have come meanwhile too.
    void find_in_second_lines() const noexcept {
        const BucketLookup* const lookups = scratch_.lookups.get();
        std::size_t row = 0;
        for (const BucketLookup* lookup : std::span{scratch_.missed.get(), scratch_.miss_count}) {
            while (lookup >= lookups + scratch_.first[row + 1]) {
                ++row;
            }
            const Entry* entry = BucketTable::in_asked(lookup->entry, lookup->key);
            prefetch_more(row, *lookup, entry == nullptr ? kNone : *entry);
        }
    }

    // What leads to them has come meanwhile.
    void prefetch_records() const noexcept {
        for_each_lookup([&](std::size_t /*row*/, const BucketLookup& lookup) {
            const LimitPlan& limit = plan_.limits[lookup.limit];
            if (limit.meter == FastMeter::Shared) {
                core_.ledger->prefetch_record({lookup.key.hash, limit.slot, 0});
            }
        });
    }

private:
    static constexpr Entry kNone{};

    template <typename Visit>
    [[gnu::always_inline]] void for_each_lookup(Visit&& visit) const noexcept {
        const BucketLookup* lookup = scratch_.lookups.get();
        for (std::size_t row = 0; row < kMaxBurst; ++row) {
            const BucketLookup* const end = scratch_.lookups.get() + scratch_.first[row + 1];
            for (; lookup != end; ++lookup) {
                visit(row, *lookup);
            }
        }
    }

    // `entry`: the look-up's own, or another one if it has none.
    [[gnu::always_inline]] void prefetch_more(std::size_t row, const BucketLookup& lookup,
                                              const Entry& entry) const noexcept {
        const LimitPlan& limit = plan_.limits[lookup.limit];
        switch (limit.meter) {
            case FastMeter::Pooled:
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

    // Of a key that has no bucket in its first line: few have one in the second.
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

void locate_second(Burst& burst, const CoreState& core) noexcept {
    const Scratch& scratch = burst.scratch();
    if (scratch.first[kMaxBurst] != 0 && scratch.plan->touches_more) {
        const Locating locating{burst, core};
        locating.find_in_second_lines();
        if (scratch.plan->has_shared && core.ledger != nullptr) [[unlikely]] {
            locating.prefetch_records();
        }
    }
    if (burst.units() != nullptr) [[unlikely]] {
        for (Burst& further : burst.units()->further()) {
            locate_second(further, core);
        }
    }
}

}  // namespace sluice
