#pragma once
#include "lib/bucket/meter/penalty.hpp"
#include "lib/bucket/table/own_bucket.hpp"
#include "lib/engine/burst/burst.hpp"
#include "lib/engine/burst/core_state.hpp"
#include "lib/rules/load/loaded_set.hpp"
#include "lib/rules/override_table.hpp"

#include <cstddef>
#include <cstdint>

// The brief form of a key's policy (key_policy.hpp), for the fast path: as far as it can be told
// from what has been located for a packet. It says Unknown of every key with a ban, or with an
// override that ends, so precedence has nothing to decide here.
namespace sluice {

enum class FastKeyPolicy : std::uint8_t {
    Limited,     // by the limit's numbers
    Unchecked,   // the same; note() spares the key's next packets the look-up
    OwnNumbers,  // limited by those in the line of its bucket
    Exempt,      // for ever
    Unknown,
};

class FastKeyPolicies {
public:
    FastKeyPolicies(const Burst& burst, const LoadedSet& set, BucketStore& store, Now now) noexcept
        : burst_{burst}, set_{set}, store_{store}, now_{now}, stale_{store.registry.stale()} {}

    // The policy of a packet's key, by its bucket and the table of overrides.
    [[nodiscard]] FastKeyPolicy of_key(const LimitPlan& limit, const BucketLookup& lookup,
                                       std::size_t row) const noexcept {
        const Entry* const entry = lookup.entry;
        const bool at_hand = entry != nullptr && entry->slot_and_tag() == lookup.key.slot_and_tag;
        if (at_hand && entry->has_own_numbers()) {
            return of_own_numbers(limit, *entry, row);
        }
        return at_hand && is_noted(limit, *entry) ? FastKeyPolicy::Limited : of_table(limit, row);
    }
    // True of a bucket under the limit's numbers if note() has been called for it since overrides
    // last changed.
    [[nodiscard, gnu::always_inline]] bool is_noted(const LimitPlan& limit,
                                                    const Entry& entry) const noexcept {
        return notes(limit) && entry.known_unoverridden(store_.registry.override_generation());
    }
    // The same where workers share the limit: its keys have no numbers of their own, and a lease
    // where the note would be.
    [[nodiscard]] FastKeyPolicy of_shared_key(const LimitPlan& limit,
                                              std::size_t row) const noexcept {
        const FastKeyPolicy policy =
            limit.overrides == nullptr ? FastKeyPolicy::Limited : of_table(limit, row);
        return policy == FastKeyPolicy::Unchecked ? FastKeyPolicy::Limited : policy;
    }
    // Notes in the key's entry that its policy was Unchecked.
    void note(const LimitPlan& limit, Entry& entry) const noexcept {
        if (notes(limit)) {
            entry.note_unoverridden(store_.registry.override_generation());
        }
    }
    // The policy of a packet's key, by its penalty box: Limited, as far as this worker's table
    // alone can tell.
    [[nodiscard]] FastKeyPolicy of_box(const LimitPlan& box,
                                       const BucketLookup& lookup) const noexcept {
        if (!box.stands_alone || store_.coarsened(now_.at) || store_.previous() != nullptr ||
            stale_) {
            return FastKeyPolicy::Unknown;
        }
        if (lookup.entry == nullptr) {
            // An earlier packet of the burst may have begun one since.
            return store_.keys.find(lookup.key) == nullptr ? FastKeyPolicy::Limited
                                                           : FastKeyPolicy::Unknown;
        }
        const bool at_hand = lookup.entry->slot_and_tag() == lookup.key.slot_and_tag;
        return at_hand && !PenaltyMeter::banned(lookup.entry->cell(), now_.at)
                   ? FastKeyPolicy::Limited
                   : FastKeyPolicy::Unknown;
    }

private:
    // The mark lies where an entry's parts of a ns would.
    [[nodiscard]] bool notes(const LimitPlan& limit) const noexcept {
        return limit.gcra->parts() == 1 && !stale_;
    }
    [[nodiscard]] FastKeyPolicy of_own_numbers(const LimitPlan& limit, const Entry& entry,
                                               std::size_t row) const noexcept;
    [[nodiscard]] FastKeyPolicy of_table(const LimitPlan& limit, std::size_t row) const noexcept;
    [[nodiscard]] OverrideTable::Brief brief_of(const LimitPlan& limit,
                                                std::size_t row) const noexcept;
    [[nodiscard]] bool learn(const LimitPlan& limit, OwnBucket& bucket,
                             std::size_t row) const noexcept;

    const Burst& burst_;
    const LoadedSet& set_;
    BucketStore& store_;
    Now now_;
    bool stale_;  // entries may carry former numbers
};

}  // namespace sluice
