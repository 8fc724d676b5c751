#include "lib/pipeline/decide_fast.hpp"
#include "lib/rules/group.hpp"
#include "lib/share/word.hpp"

// What the fast path asks of a key that operators have given numbers of its own, or made exempt.
namespace sluice {

OverrideTable::Brief FastPath::brief_of(const LimitPlan& limit) const noexcept {
    const KeySchema& schema = set_.meter_plan.schemas[limit.schema];
    KeyBytes bytes;
    return limit.overrides->brief(scratch_.digests[limit.schema][row_], [&]() noexcept {
        (void)key_of(*schema.parts, schema.missing, burst_.headers_of(row_),
                     burst_.frame(row_).bytes, bytes);
        return bytes.view();
    });
}

// Whether a bucket has the numbers that its key has for ever; its line remembers that.
[[gnu::noinline]] bool FastPath::learn(const LimitPlan& limit, OwnBucket& bucket) const noexcept {
    const OverrideTable::Brief brief = brief_of(limit);
    if (brief.kind != OverrideTable::Kind::Numbers) {
        return false;
    }
    const Limit* gcra = gcra_of(limit.overrides->numbers_of(brief).numbers);
    if (gcra == nullptr || !bucket.has(*gcra) || bucket.until != kForever.count()) {
        return false;
    }
    store_word(bucket.said_by, 0);
    keep_store_order();
    bucket.digest = static_cast<std::uint32_t>(scratch_.digests[limit.schema][row_]);
    store_word(bucket.said_by, limit.overrides->name());
    return true;
}

// A bucket with numbers of its own: they are known to be the key's if its line remembers so.
FastPath::Check FastPath::check_own_numbers(const LimitPlan& limit,
                                            const BucketLookup& lookup) noexcept {
    OwnBucket& bucket = store_.registry.pool().at<OwnBucket>(lookup.entry->cell().rest);
    const std::uint64_t digest = scratch_.digests[limit.schema][row_];
    const std::uint64_t other = bucket.said_by ^ limit.overrides->name();
    const bool is_known = (other | (bucket.digest ^ static_cast<std::uint32_t>(digest))) == 0;
    if (!is_known && !learn(limit, bucket)) [[unlikely]] {
        return Check::General;
    }
    return bucket.after(cost_of(limit, lookup), now_.at) ? Check::Fits : Check::Refused;
}

}  // namespace sluice
