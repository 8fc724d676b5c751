#include "lib/bucket/table/take.hpp"
#include "lib/engine/decide/decide_fast.hpp"

#include <bit>
#include <span>

// The path of most packets: every bucket lies where it was located, and is a token or leaky bucket
// under its limit's numbers. Where each has room, nothing but these buckets is written, so that
// plans, look-ups and time stay in registers from packet to packet.
namespace sluice {
namespace {

// A unit of each limit takes whole ns.
struct InWholeNs {
    std::int64_t now;  // in the unit of an entry's time word

    [[nodiscard, gnu::always_inline]] bool fits(const LimitPlan& limit,
                                                const BucketLookup& lookup) const noexcept {
        return limit.whole.fits(*lookup.entry, now, cost_of(limit, lookup));
    }
    [[gnu::always_inline]] void charge(const LimitPlan& limit,
                                       const BucketLookup& lookup) const noexcept {
        limit.whole.charge(*lookup.entry, now, cost_of(limit, lookup));
    }
};

// Some take parts of a ns.
struct InAnyParts {
    Instant now;

    [[nodiscard, gnu::always_inline]] bool fits(const LimitPlan& limit,
                                                const BucketLookup& lookup) const noexcept {
        return sluice::fits(*lookup.entry, *limit.gcra, now, cost_of(limit, lookup));
    }
    [[gnu::always_inline]] void charge(const LimitPlan& limit,
                                       const BucketLookup& lookup) const noexcept {
        take_fitting(*lookup.entry, *limit.gcra, now, cost_of(limit, lookup));
    }
};

// No key can have an override.
struct NoOverrides {
    [[nodiscard]] static bool can_evaluate(const LimitPlan&, const Entry&) noexcept { return true; }
};

// Some may: a key is judged whose entry carries the current generation of overrides.
struct KnownUnoverridden {
    const FastKeyPolicies& policies;

    [[nodiscard, gnu::always_inline]] bool can_evaluate(const LimitPlan& limit,
                                                        const Entry& entry) const noexcept {
        return limit.meter != FastMeter::Overridden ||
               (!entry.has_own_numbers() && policies.is_noted(limit, entry));
    }
};

[[nodiscard, gnu::always_inline]] inline bool is_where_located(
    const BucketLookup& lookup) noexcept {
    return lookup.entry != nullptr && lookup.entry->slot_and_tag() == lookup.key.slot_and_tag;
}

}  // namespace

template <typename Buckets, typename Keys>
RowMask FastPath::decide_buckets(const Buckets& buckets, const Keys& keys, RowMask rows) noexcept {
    const LimitPlan* const limits = limits_;
    const BucketLookup* const lookups = scratch_.lookups.get();
    const std::uint32_t* const first_of = scratch_.first.data();
    for (; rows != 0; rows &= rows - 1) {
        const auto row = static_cast<std::size_t>(std::countr_zero(rows));
        const BucketLookup* const first = lookups + first_of[row];
        const BucketLookup* const last = lookups + first_of[row + 1];
        std::uint64_t refused = 0;
        for (const BucketLookup* lookup = first; lookup != last; ++lookup) {
            const LimitPlan& limit = limits[lookup->limit];
            if (!is_where_located(*lookup) || !keys.can_evaluate(limit, *lookup->entry))
                [[unlikely]] {
                return rows;
            }
            if (!buckets.fits(limit, *lookup)) {
                refused |= std::uint64_t{1} << ((lookup - first) % kMostFastLookups);
            }
        }
        if (refused == 0) {
            for (const BucketLookup* lookup = first; lookup != last; ++lookup) {
                buckets.charge(limits[lookup->limit], *lookup);
            }
        } else if (const std::span of{first, last};
                   of.size() > kMostFastLookups || !decide_refused(row, of, {refused})) {
            return rows;
        }
    }
    return 0;
}

// A function apart, so that the loops for keys without overrides keep their values in registers.
[[gnu::noinline]] RowMask FastPath::decide_unoverridden(RowMask rows) noexcept {
    const KnownUnoverridden keys{policies_};
    return (rows & scratch_.in_parts) == 0 ? decide_buckets(InWholeNs{now_word_}, keys, rows)
                                           : decide_buckets(InAnyParts{now_.at}, keys, rows);
}

RowMask FastPath::decide_buckets(RowMask rows) noexcept {
    // Numbers that have just changed, and packets that may have to depart behind others.
    if (stale_ || core_.held_order.any(now_.at)) [[unlikely]] {
        return rows;
    }
    const RowMask others = (scratch_.general | scratch_.with_state) & rows;
    const RowMask simple = rows & ((others & -others) - 1);  // those before the first of these
    const RowMask left = (simple & scratch_.overridden) != 0 ? decide_unoverridden(simple)
                         : (simple & scratch_.in_parts) == 0
                             ? decide_buckets(InWholeNs{now_word_}, NoOverrides{}, simple)
                             : decide_buckets(InAnyParts{now_.at}, NoOverrides{}, simple);
    admitted_ |= simple & ~(left | otherwise_);
    return left | (rows & ~simple);
}

}  // namespace sluice
