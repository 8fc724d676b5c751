#include "lib/base/prefetch.hpp"
#include "lib/pipeline/stages.hpp"
#include "lib/rules/override_table.hpp"

#include <span>

// Finds the entries of all look-ups, whose first lines have come meanwhile, and prefetches whatever
// else metering will touch: second lines of keys that are not there, lines of the pool, of the table
// of overrides, and records of the ledger.
namespace sluice {
namespace {

class Locating {
public:
    Locating(Burst& burst, const CoreState& core) noexcept
        : scratch_{burst.scratch()}, plan_{*scratch_.plan}, core_{core} {}

    void find_in_first_lines() noexcept {
        const std::span<BucketLookup> lookups = scratch_.all_lookups();
        scratch_.miss_count = core_.buckets.keys.probe_first(lookups, scratch_.missed.get());
        if (plan_.touches_more) {
            for (const BucketLookup& lookup : lookups) {
                prefetch_more(lookup, *lookup.entry);
            }
        }
    }

    // Those that lie in second lines, which have come meanwhile too.
    void find_in_second_lines() const noexcept {
        for (const BucketLookup* lookup : std::span{scratch_.missed.get(), scratch_.miss_count}) {
            const Entry* entry = BucketTable::in_asked(lookup->entry, lookup->key);
            if (entry != nullptr) {
                prefetch_more(*lookup, *entry);
            }
        }
    }

private:
    // `entry`: the look-up's own, or another one, of which nothing is prefetched.
    [[gnu::always_inline]] void prefetch_more(const BucketLookup& lookup,
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
                prefetch_overridden(limit, lookup, entry);
                return;
            case FastMeter::Shared:
                prefetch_account(limit, lookup, entry);
                return;
            default:
                return;
        }
    }

    [[nodiscard]] static bool is_found(const BucketLookup& lookup, const Entry& entry) noexcept {
        return entry.filed() == lookup.key.filed;
    }
    [[gnu::always_inline]] void prefetch_line(const Entry& entry) const noexcept {
        const LinePool& pool = core_.buckets.tenants.pool();
        __builtin_prefetch(pool.line_for(entry.cell().rest), 1, 3);
    }

    // One line at the most: of numbers of its own, or of the table of overrides; none of a key that
    // is known to have none.
    [[gnu::always_inline]] void prefetch_overridden(const LimitPlan& limit,
                                                    const BucketLookup& lookup,
                                                    const Entry& entry) const noexcept {
        if (is_found(lookup, entry)) {
            if (entry.has_own_numbers()) {
                prefetch_line(entry);
                return;
            }
            if (entry.is_ordinary_in(core_.buckets.tenants.edition())) {
                return;
            }
        }
        limit.overrides->prefetch(scratch_.digests[limit.schema][lookup.row]);
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
}

void locate_second(Burst& burst, const CoreState& core) noexcept {
    if (burst.scratch().miss_count != 0 && burst.scratch().plan->touches_more) {
        Locating{burst, core}.find_in_second_lines();
    }
}

}  // namespace sluice
