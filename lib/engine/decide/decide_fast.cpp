#include "lib/engine/decide/decide_fast.hpp"

#include "lib/bucket/meter/any_meter.hpp"
#include "lib/bucket/meter/bucket_in.hpp"
#include "lib/bucket/table/own_bucket.hpp"
#include "lib/bucket/table/take.hpp"
#include "lib/engine/check/check_limit.hpp"
#include "lib/peer/merge/bucket_state.hpp"
#include "lib/peer/merge/charge_ahead.hpp"

#include <algorithm>
#include <bit>

namespace sluice {
namespace {

// Entries that no longer are what they were located as.
bool all_at_hand(std::span<const BucketLookup> lookups) noexcept {
    return std::all_of(lookups.begin(), lookups.end(), [](const BucketLookup& lookup) {
        return lookup.entry == nullptr || lookup.entry->slot_and_tag() == lookup.key.slot_and_tag;
    });
}

}  // namespace

FastPath::FastPath(Burst& burst, const LoadedSet& set, CoreState& core, Now now) noexcept
    : burst_{burst},
      scratch_{burst.scratch()},
      set_{set},
      limits_{set.meter_plan.limits.data()},
      core_{core},
      store_{core.buckets},
      now_{now},
      policies_{burst, set, store_, now},
      coarser_{scratch_, set.meter_plan, core, now},
      now_word_{WholeNumbers::word_of(now.at)},
      stale_{core.buckets.registry.stale()} {}

bool FastPath::make_current(const LimitPlan& limit, Entry& entry) noexcept {
    if (entry.stamp().version == limit.version) {
        return true;
    }
    store_.registry.update(entry, now_);
    return entry.stamp().version == limit.version;
}

[[gnu::always_inline]] inline bool FastPath::is_at_hand(const LimitPlan& limit,
                                                        const BucketLookup& lookup) noexcept {
    return lookup.entry->slot_and_tag() == lookup.key.slot_and_tag &&
           (!stale_ || make_current(limit, *lookup.entry));
}

// A bucket for a key that had none when its burst was located, where that is simple: there is a
// place in the key's own lines, and nobody owes anything for it. What a flood of new keys comes to.
[[gnu::noinline]] bool FastPath::open(const LimitPlan& limit, BucketLookup& lookup) noexcept {
    if (!limit.stands_alone || store_.coarsened(now_.at) || store_.previous() != nullptr) {
        return false;
    }
    // An earlier packet of the burst may have brought it; whether that is current, nobody has seen.
    if (store_.keys.find(lookup.key) != nullptr) {
        return false;
    }
    Entry* const entry = store_.keys.make_place_at_hand(lookup.key, store_.registry, now_);
    if (entry == nullptr) {
        return false;
    }
    entry->file({now_.at, 0}, lookup.key.slot_and_tag,
                {.version = limit.version, .aggregation_level = 0});
    entry->release();
    store_.registry.came(limit.slot);
    lookup.entry = entry;
    return true;
}

[[gnu::noinline]] FastPath::Check FastPath::check_pooled(const LimitPlan& limit,
                                                         const BucketLookup& lookup) noexcept {
    Cell cell = lookup.entry->cell();
    const Demand demand{cost_of(limit, lookup), color_of_row(burst_.headers(), row_)};
    const Conformance conformance =
        sluice::check(cell, *limit.numbers, store_.registry.pool(), now_, demand);
    store_.registry.write(*lookup.entry, cell, now_);
    switch (conformance) {
        case Conformance::Green:
            return Check::Fits;
        case Conformance::Red:
            return Check::Refused;
        default:
            return Check::General;
    }
}

// A key that has no bucket yet takes a line for it: the general path opens it.
[[gnu::noinline]] FastPath::Check FastPath::check_value(const LimitPlan& limit,
                                                        const BucketLookup& lookup) noexcept {
    if (lookup.entry == nullptr || !is_at_hand(limit, lookup)) [[unlikely]] {
        return Check::General;
    }
    Cell cell = lookup.entry->cell();
    const Demand demand{.cost = Units{1}, .value = value_of(limit)};
    const Conformance conformance =
        sluice::check(cell, *limit.numbers, store_.registry.pool(), now_, demand);
    store_.registry.write(*lookup.entry, cell, now_);
    return conformance == Conformance::Green ? Check::Fits
           : conformance == Conformance::Red ? Check::Refused
                                             : Check::General;
}

[[gnu::always_inline]] inline FastPath::Check FastPath::check_bucket(
    const LimitPlan& limit, BucketLookup& lookup, CheckFindings& found) noexcept {
    if (lookup.entry == nullptr) [[unlikely]] {
        if (!open(limit, lookup)) {
            return Check::General;
        }
        found.opened = true;
    } else if (!is_at_hand(limit, lookup)) [[unlikely]] {
        return Check::General;
    }
    const Units cost = cost_of(limit, lookup);
    if (limit.meter == FastMeter::Whole) [[likely]] {
        const bool fits = limit.whole.fits(*lookup.entry, now_word_, cost);
        return fits ? Check::Fits : Check::Refused;
    }
    if (limit.meter == FastMeter::Pooled) {
        return check_pooled(limit, lookup);
    }
    return fits(*lookup.entry, *limit.gcra, now_.at, cost) ? Check::Fits : Check::Refused;
}

// A key without a place, in a full table or pool.
[[gnu::noinline]] bool FastPath::check_coarser(const BucketLookup& lookup, std::uint64_t bit,
                                               CheckFindings& found) noexcept {
    const LimitPlan& limit = limit_of(lookup);
    CoarserLookup& coarser = scratch_.coarser[static_cast<std::size_t>(std::countr_zero(bit))];
    if (!coarser_.find(limit, lookup, row_, coarser)) {
        return false;
    }
    found.coarsened |= bit;
    found.refused |= coarser_.has_room(coarser) ? 0 : bit;
    return true;
}

FastPath::Check FastPath::check_overridden(const LimitPlan& limit, BucketLookup& lookup,
                                           CheckFindings& found) noexcept {
    const FastKeyPolicy policy = policies_.of_key(limit, lookup, row_);
    switch (policy) {
        case FastKeyPolicy::Exempt:
            return Check::Exempt;
        case FastKeyPolicy::Unknown:
            return Check::General;
        case FastKeyPolicy::OwnNumbers: {
            const OwnBucket& bucket = own_bucket_of(lookup);
            return bucket.after(cost_of(limit, lookup), now_.at) ? Check::Fits : Check::Refused;
        }
        default:
            break;
    }
    const Check checked = check_bucket(limit, lookup, found);
    if (policy == FastKeyPolicy::Unchecked && checked != Check::General) {
        policies_.note(limit, *lookup.entry);
    }
    return checked;
}

[[gnu::always_inline]] inline FastPath::Check FastPath::check_shared(
    const LimitPlan& limit, BucketLookup& lookup, CheckFindings& found) noexcept {
    const FastKeyPolicy policy = policies_.of_shared_key(limit, row_);
    if (policy != FastKeyPolicy::Limited) [[unlikely]] {
        return policy == FastKeyPolicy::Exempt ? Check::Exempt : Check::General;
    }
    ++found.shared;
    return check_bucket(limit, lookup, found);
}

[[gnu::always_inline]] inline FastPath::Check FastPath::check(const LimitPlan& limit,
                                                              BucketLookup& lookup,
                                                              CheckFindings& found) noexcept {
    switch (limit.meter) {
        case FastMeter::Whole:
        case FastMeter::Parts:
        case FastMeter::Pooled:
            return check_bucket(limit, lookup, found);
        case FastMeter::Shared:
            return check_shared(limit, lookup, found);
        case FastMeter::Values:
            return check_value(limit, lookup);
        case FastMeter::Overridden:
            return check_overridden(limit, lookup, found);
        case FastMeter::Penalty:
            return policies_.of_box(limit, lookup) == FastKeyPolicy::Limited ? Check::Fits
                                                                             : Check::General;
        default:
            return Check::General;
    }
}

[[gnu::noinline]] void FastPath::commit_pooled(const LimitPlan& limit,
                                               const BucketLookup& lookup) noexcept {
    Cell cell = lookup.entry->cell();
    charge(cell, *limit.numbers, store_.registry.pool(), now_,
           {cost_of(limit, lookup), Conformance::Green});
    store_.registry.write(*lookup.entry, cell, now_);
}

[[gnu::noinline]] void FastPath::commit_value(const LimitPlan& limit,
                                              const BucketLookup& lookup) noexcept {
    Cell cell = lookup.entry->cell();
    charge(cell, *limit.numbers, store_.registry.pool(), now_,
           {.cost = Units{1}, .conformance = Conformance::Green, .value = value_of(limit)});
    store_.registry.write(*lookup.entry, cell, now_);
}

[[gnu::noinline]] void FastPath::commit_own_numbers(const LimitPlan& limit,
                                                    const BucketLookup& lookup) noexcept {
    OwnBucket& bucket = own_bucket_of(lookup);
    if (const std::optional<Gcra> after = bucket.after(cost_of(limit, lookup), now_.at)) {
        bucket.keep(*after);
        lookup.entry->write_instant(after->fresh_from);
    }
}

[[gnu::always_inline]] inline void FastPath::commit(const LimitPlan& limit,
                                                    const BucketLookup& lookup) noexcept {
    // None of a penalty box that holds nothing.
    Entry* const entry = lookup.entry;
    switch (limit.meter) {
        case FastMeter::Whole:
            limit.whole.charge(*entry, now_word_, cost_of(limit, lookup));
            return;
        case FastMeter::Parts:
            take_fitting(*entry, *limit.gcra, now_.at, cost_of(limit, lookup));
            return;
        case FastMeter::Pooled:
            commit_pooled(limit, lookup);
            return;
        case FastMeter::Values:
            commit_value(limit, lookup);
            return;
        case FastMeter::Overridden:
            if (entry->has_own_numbers()) {
                commit_own_numbers(limit, lookup);
            } else {
                take_fitting(*entry, *limit.gcra, now_.at, cost_of(limit, lookup));
            }
            return;
        default:
            return;  // shared ones have been committed first; penalty boxes have nothing to commit
    }
}

// Commits, of the limits that the packet spends, the one that several workers do: it alone may find
// that this worker can go no further ahead of the others, so it comes before all others. True where
// none of them is shared; false: nothing has been done.
[[gnu::noinline]] bool FastPath::commit_shared(std::span<const BucketLookup> lookups,
                                               std::uint64_t spending) noexcept {
    for (; spending != 0; spending &= spending - 1) {
        const BucketLookup& lookup = lookups[static_cast<std::size_t>(std::countr_zero(spending))];
        const LimitPlan& limit = limit_of(lookup);
        if (limit.meter != FastMeter::Shared) {
            continue;
        }
        Entry& entry = *lookup.entry;
        const Units cost = cost_of(limit, lookup);
        const Due due = due_of(bucket_in(entry.cell(), *limit.gcra), *limit.gcra, now_.at, cost);
        const ChargeAhead ahead{*core_.ledger, *limit.gcra, limit.max_unsynced, now_.at};
        return ahead(
            AheadCharge{{lookup.key.hash, limit.slot, 0}, cost, due, entry},
            [&] { take_fitting(entry, *limit.gcra, now_.at, cost); },
            [&]() -> BucketState {
                return {{bucket_in(entry.cell(), *limit.gcra)}, limit.version};
            });
    }
    return true;
}

// Commits the limits of the bits in `spending`.
[[gnu::noinline]] void FastPath::commit_each(std::span<const BucketLookup> lookups,
                                             std::uint64_t spending,
                                             std::uint64_t coarsened) noexcept {
    for (; spending != 0; spending &= spending - 1) {
        const auto at = static_cast<std::size_t>(std::countr_zero(spending));
        if ((coarsened >> at & 1U) != 0) {
            const CoarserLookup& coarser = scratch_.coarser[at];
            commit(*coarser.limit, coarser.lookup);
            coarser_.note(coarser);
        } else {
            commit(limit_of(lookups[at]), lookups[at]);
        }
    }
}

[[gnu::always_inline]] inline void FastPath::commit_all(
    std::span<const BucketLookup> lookups) noexcept {
    for (const BucketLookup& lookup : lookups) {
        commit(limit_of(lookup), lookup);
    }
}

// While packets are held, what conforms may still have to depart behind them.
[[gnu::noinline]] bool FastPath::any_shapes(std::span<const BucketLookup> lookups) const noexcept {
    return std::any_of(lookups.begin(), lookups.end(), [&](const BucketLookup& lookup) {
        return set_.meter_plan.rules[limit_of(lookup).rule].exceed_verdict == Verdict::Shape;
    });
}

bool FastPath::decide(std::size_t row) noexcept {
    const std::span<BucketLookup> lookups = lookups_of(row);
    if (is_of_general(lookups)) [[unlikely]] {
        return false;
    }
    row_ = row;
    CheckFindings found;
    std::uint64_t bit = 1;
    for (BucketLookup& lookup : lookups) {
        switch (check(limit_of(lookup), lookup, found)) {
            case Check::Fits:
                break;
            case Check::Refused:
                found.refused |= bit;
                break;
            case Check::Exempt:
                found.exempt |= bit;
                break;
            case Check::General:
                return false;
        }
        bit <<= 1;
    }
    if ((found.opened && lookups.size() > 1 && !all_at_hand(lookups)) || found.shared > 1)
        [[unlikely]] {
        return false;
    }
    if ((found.refused | found.exempt) != 0) {
        return decide_refused(row, lookups, found);
    }
    if (found.shared != 0 && !commit_shared(lookups, bit - 1)) {
        return false;
    }
    commit_all(lookups);
    admitted_ |= row_bit(row);
    return true;
}

bool FastPath::decide_widened(std::size_t row) noexcept {
    const std::span<BucketLookup> lookups = lookups_of(row);
    if (!has_row(scratch_.widened, row) || is_of_general(lookups) ||
        !coarser_.can_evaluate(lookups, row)) {
        return false;
    }
    row_ = row;
    CheckFindings found;
    std::uint64_t bit = 1;
    for (BucketLookup& lookup : lookups) {
        const Check checked = check(limit_of(lookup), lookup, found);
        if (checked == Check::General && !check_coarser(lookup, bit, found)) {
            return false;
        }
        found.refused |= checked == Check::Refused ? bit : 0;
        found.exempt |= checked == Check::Exempt ? bit : 0;
        bit <<= 1;
    }
    const bool is_left = found.opened && !all_at_hand(lookups);
    return !is_left && found.shared <= 1 && decide_refused(row, lookups, found);
}

}  // namespace sluice
