#include "lib/pipeline/decide_fast.hpp"
#include "lib/table/take.hpp"

#include <bit>

// What most packets come to: every bucket lies where it was located, is a token or leaky bucket
// under its limit's numbers, and has room. Nothing here writes anything but these buckets, so their
// plans, the look-ups and the time stay in registers from packet to packet.
namespace sluice {
namespace {

[[nodiscard, gnu::always_inline]] inline Units cost_of(const LimitPlan& limit,
                                                       const BucketLookup& lookup) noexcept {
    return Units{std::uint64_t{lookup.units} * limit.cost};
}

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

[[nodiscard, gnu::always_inline]] inline bool is_at_hand(const BucketLookup& lookup) noexcept {
    return lookup.entry != nullptr && lookup.entry->slot_and_tag() == lookup.key.slot_and_tag;
}

// The look-ups of one packet.
template <typename Buckets>
[[nodiscard, gnu::always_inline]] inline bool admit_packet(const Buckets& buckets,
                                                           const LimitPlan* limits,
                                                           const BucketLookup* first,
                                                           const BucketLookup* last) noexcept {
    for (const BucketLookup* lookup = first; lookup != last; ++lookup) {
        if (!is_at_hand(*lookup) || !buckets.fits(limits[lookup->limit], *lookup)) {
            return false;
        }
    }
    for (const BucketLookup* lookup = first; lookup != last; ++lookup) {
        buckets.charge(limits[lookup->limit], *lookup);
    }
    return true;
}

// The first of the rows that is not admitted, and those behind it.
template <typename Buckets>
[[nodiscard]] RowMask admit_packets(const Buckets& buckets, const LimitPlan* limits,
                                    const Scratch& scratch, RowMask rows) noexcept {
    const BucketLookup* const lookups = scratch.lookups.get();
    for (; rows != 0; rows &= rows - 1) {
        const auto row = static_cast<std::size_t>(std::countr_zero(rows));
        if (!admit_packet(buckets, limits, lookups + scratch.first[row],
                          lookups + scratch.first[row + 1])) {
            break;
        }
    }
    return rows;
}

}  // namespace

RowMask FastPath::admit_fitting(RowMask rows) noexcept {
    // Numbers that have just changed, and packets that may have to depart behind others.
    if (stale_ || core_.held_order.any(now_.at)) [[unlikely]] {
        return rows;
    }
    const RowMask others = (scratch_.general | scratch_.with_state) & rows;
    const RowMask simple = rows & ((others & -others) - 1);  // those before the first of these
    const RowMask left = (simple & scratch_.in_parts) == 0
                             ? admit_packets(InWholeNs{now_word_}, limits_, scratch_, simple)
                             : admit_packets(InAnyParts{now_.at}, limits_, scratch_, simple);
    admitted_ |= simple & ~left;
    return left | (rows & ~simple);
}

}  // namespace sluice
