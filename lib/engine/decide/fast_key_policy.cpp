#include "lib/engine/decide/fast_key_policy.hpp"

#include "lib/rules/group.hpp"
#include "lib/share/word.hpp"

namespace sluice {

OverrideTable::Brief FastKeyPolicies::brief_of(const LimitPlan& limit,
                                               std::size_t row) const noexcept {
    const KeySchema& schema = set_.meter_plan.schemas[limit.schema];
    KeyBytes bytes;
    return limit.overrides->brief(burst_.scratch().digests[limit.schema][row], [&]() noexcept {
        (void)key_of(*schema.parts, schema.missing, burst_.headers_of(row), burst_.frame(row).bytes,
                     bytes);
        return bytes.view();
    });
}

FastKeyPolicy FastKeyPolicies::of_table(const LimitPlan& limit, std::size_t row) const noexcept {
    switch (brief_of(limit, row).kind) {
        case OverrideTable::Kind::None:
            return FastKeyPolicy::Unchecked;
        case OverrideTable::Kind::Exempt:
            return FastKeyPolicy::Exempt;
        default:
            return FastKeyPolicy::Unknown;  // also numbers that the bucket does not have yet
    }
}

// True if a bucket has the numbers that its key has for ever; its line remembers that.
[[gnu::noinline]] bool FastKeyPolicies::learn(const LimitPlan& limit, OwnBucket& bucket,
                                              std::size_t row) const noexcept {
    const OverrideTable::Brief brief = brief_of(limit, row);
    if (brief.kind != OverrideTable::Kind::Numbers) {
        return false;
    }
    const Limit* gcra = gcra_of(limit.overrides->numbers_of(brief).numbers);
    if (gcra == nullptr || !bucket.has(*gcra) || bucket.until != kForever.count()) {
        return false;
    }
    store_word(bucket.said_by, 0);
    keep_store_order();
    bucket.digest = static_cast<std::uint32_t>(burst_.scratch().digests[limit.schema][row]);
    store_word(bucket.said_by, limit.overrides->name());
    return true;
}

// Numbers of its own in a bucket are known to be the key's if the line remembers so.
FastKeyPolicy FastKeyPolicies::of_own_numbers(const LimitPlan& limit, const Entry& entry,
                                              std::size_t row) const noexcept {
    OwnBucket& bucket = store_.registry.pool().at<OwnBucket>(entry.cell().rest);
    const std::uint64_t digest = burst_.scratch().digests[limit.schema][row];
    const std::uint64_t other = bucket.said_by ^ limit.overrides->name();
    const bool is_known = (other | (bucket.digest ^ static_cast<std::uint32_t>(digest))) == 0;
    return is_known || learn(limit, bucket, row) ? FastKeyPolicy::OwnNumbers
                                                 : FastKeyPolicy::Unknown;
}

}  // namespace sluice
