#pragma once
#include "lib/bucket/meter/distinct_values.hpp"
#include "lib/bucket/table/own_bucket.hpp"
#include "lib/engine/burst/burst.hpp"
#include "lib/engine/burst/core_state.hpp"
#include "lib/engine/decide/coarser_buckets.hpp"
#include "lib/engine/decide/fast_key_policy.hpp"
#include "lib/engine/decide/packet_outcome.hpp"
#include "lib/rules/load/loaded_set.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

// The fast path to a decision, for packets of any rule set: all limits of one packet are checked
// where their buckets were located, and if each has room, all of them are charged. It does the same
// as the general path (decide_general.hpp), and leaves to it, before anything has changed, every
// packet that needs more than that: a bucket that is not where it was located, numbers that have
// just changed, a key in the penalty box, a refusal that spends or notes something.
namespace sluice {

class FastPath {
public:
    FastPath(Burst& burst, const LoadedSet& set, CoreState& core, Now now) noexcept;

    // Packets of these rows in arrival order, under token and leaky buckets alone, all of which are
    // at hand, and whose keys are known to have no override: what decide() does with them, in less
    // time. Ends before the first one that is not like that; it and those behind it are returned.
    [[nodiscard]] RowMask decide_buckets(RowMask rows) noexcept;
    // One packet, at its turn. False: nothing has been done, and the general path decides.
    [[nodiscard]] bool decide(std::size_t row) noexcept;
    // The same with a key that has no place, or a state that lacks a line of the pool, whose wider
    // keys have been looked for. It stands apart
    // so that decide(), which every packet goes through, keeps its values in registers.
    [[nodiscard]] bool decide_widened(std::size_t row) noexcept;
    // Packets without look-ups: nothing refuses them.
    void admit(RowMask rows) noexcept { admitted_ |= rows; }
    [[nodiscard]] RowMask admitted() const noexcept { return admitted_; }
    // Rows of connections that end with an earlier one of the burst: nobody has admitted them.
    void withdraw(RowMask rows) noexcept { admitted_ &= ~rows; }
    // Writes the decisions of the rows that have been admitted so far.
    void write_admitted() noexcept;
    // Counts and notes what decide() has made of all rows, once for the burst.
    void finish() noexcept;

private:
    enum class Check : std::uint8_t {
        Fits,
        Refused,
        Exempt,   // the key is: the rule's limits do not judge the packet
        General,  // cannot be told here
    };

    [[nodiscard]] Check check(const LimitPlan& limit, BucketLookup& lookup,
                              CheckFindings& found) noexcept;
    [[nodiscard]] Check check_bucket(const LimitPlan& limit, BucketLookup& lookup,
                                     CheckFindings& found) noexcept;
    [[nodiscard]] Check check_pooled(const LimitPlan& limit, const BucketLookup& lookup) noexcept;
    [[nodiscard]] Check check_value(const LimitPlan& limit, const BucketLookup& lookup) noexcept;
    [[nodiscard]] Check check_overridden(const LimitPlan& limit, BucketLookup& lookup,
                                         CheckFindings& found) noexcept;
    [[nodiscard]] Check check_shared(const LimitPlan& limit, BucketLookup& lookup,
                                     CheckFindings& found) noexcept;
    // Checks the look-up of that bit.
    [[nodiscard]] bool check_coarser(const BucketLookup& lookup, std::uint64_t bit,
                                     CheckFindings& found) noexcept;
    [[nodiscard]] bool is_at_hand(const LimitPlan& limit, const BucketLookup& lookup) noexcept;
    [[nodiscard]] bool make_current(const LimitPlan& limit, Entry& entry) noexcept;
    [[nodiscard]] bool open(const LimitPlan& limit, BucketLookup& lookup) noexcept;

    void commit(const LimitPlan& limit, const BucketLookup& lookup) noexcept;
    void commit_own_numbers(const LimitPlan& limit, const BucketLookup& lookup) noexcept;
    void commit_pooled(const LimitPlan& limit, const BucketLookup& lookup) noexcept;
    void commit_value(const LimitPlan& limit, const BucketLookup& lookup) noexcept;
    // The value that the packet at its turn shows.
    [[nodiscard]] std::uint32_t value_of(const LimitPlan& limit) const noexcept {
        return ShownValue::of(scratch_.digests[limit.values - 1][row_]).bits;
    }
    [[nodiscard]] bool commit_shared(std::span<const BucketLookup> lookups,
                                     std::uint64_t spending) noexcept;
    void commit_all(std::span<const BucketLookup> lookups) noexcept;

    [[nodiscard]] ActiveRule& active_rule_of(const BucketLookup& lookup) noexcept;
    [[nodiscard]] bool refuse_alone(std::size_t row, const BucketLookup& lookup) noexcept;
    void commit_each(std::span<const BucketLookup> lookups, std::uint64_t spending,
                     std::uint64_t coarsened) noexcept;
    void count_coarsened(std::uint64_t coarsened) noexcept;
    // Counts which limit refuses, of a rule with several.
    void note_refusal(const BucketLookup& lookup) noexcept;
    [[nodiscard]] bool any_shapes(std::span<const BucketLookup> lookups) const noexcept;
    // Decides where the checks did not find room in each limit for a key of its own. False: nothing
    // has been done.
    [[nodiscard, gnu::noinline]] bool decide_refused(std::size_t row,
                                                     std::span<const BucketLookup> lookups,
                                                     const CheckFindings& found) noexcept;
    [[nodiscard]] bool keep_stricter_rules(std::size_t row, std::span<const BucketLookup> lookups,
                                           const CheckFindings& found) noexcept;
    template <typename Buckets, typename Keys>
    [[nodiscard]] RowMask decide_buckets(const Buckets& buckets, const Keys& keys,
                                         RowMask rows) noexcept;
    // The same with keys among them that may have overrides.
    [[nodiscard]] RowMask decide_unoverridden(RowMask rows) noexcept;

    [[nodiscard, gnu::always_inline]] std::span<BucketLookup> lookups_of(
        std::size_t row) const noexcept {
        const std::uint32_t first = scratch_.first[row];
        return {&scratch_.lookups[first], scratch_.first[row + 1] - first};
    }
    [[nodiscard, gnu::always_inline]] bool is_of_general(
        std::span<const BucketLookup> lookups) const noexcept {
        return lookups.size() > kMostFastLookups ||
               (core_.held_order.any(now_.at) && any_shapes(lookups));
    }
    [[nodiscard]] const LimitPlan& limit_of(const BucketLookup& lookup) const noexcept {
        return limits_[lookup.limit];
    }
    [[nodiscard]] OwnBucket& own_bucket_of(const BucketLookup& lookup) noexcept {
        return store_.registry.pool().at<OwnBucket>(lookup.entry->cell().rest);
    }

    Burst& burst_;
    Scratch& scratch_;
    const LoadedSet& set_;
    const LimitPlan* limits_;
    CoreState& core_;
    BucketStore& store_;
    Now now_;
    FastKeyPolicies policies_;
    CoarserBuckets coarser_;
    std::int64_t now_word_;  // in the unit of an entry's time word
    bool stale_;             // entries may carry former numbers
    std::size_t row_ = 0;    // of the packet at its turn
    RowMask admitted_ = 0;
    RowMask otherwise_ = 0;  // decided here, but not by all limits having room
};

}  // namespace sluice
