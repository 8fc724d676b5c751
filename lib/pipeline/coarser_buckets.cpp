#include "lib/pipeline/coarser_buckets.hpp"

#include "lib/hash/group_key.hpp"

namespace sluice {

// An earlier packet of the burst may have brought the key.
bool CoarserBuckets::has_no_place(const LimitPlan& limit, const BucketLookup& lookup,
                                  std::size_t row) noexcept {
    return limit.coarser != 0 && has_row(scratch_.widened, row) && store_.previous() == nullptr &&
           store_.keys.is_full_for(lookup.key, now_) && store_.keys.find(lookup.key) == nullptr;
}

bool CoarserBuckets::find(const LimitPlan& limit, const BucketLookup& lookup, std::size_t row,
                          CoarserLookup& found) noexcept {
    if (!has_no_place(limit, lookup, row)) {
        return false;
    }
    const CoarserPlan& coarser = plan_.coarser[limit.coarser - 1U];
    found.lookup = lookup;
    found.aggregation_level = 0;
    std::uint64_t nearest = scratch_.digests[limit.schema][row];
    for (const std::uint32_t schema : coarser.schemas) {
        const std::uint64_t digest = scratch_.digests[schema][row];
        if (digest == nearest) {
            continue;  // the step does not widen this packet's key
        }
        nearest = digest;
        ++found.aggregation_level;
        found.lookup.key = {KeyHasher::key_from(limit.start, digest), limit.slot};
        if (Entry* const entry = store_.parents.find(found.lookup.key); entry != nullptr) {
            return take(*entry, coarser, found);
        }
        if (!store_.parents.is_full_for(found.lookup.key, now_)) {
            return false;  // it gets a bucket
        }
    }
    found.aggregation_level = coarser.last_level;
    found.lookup.key = {GroupKey{}, limit.slot};
    Entry& rule = store_.rule_entry(limit.slot);
    return !rule.empty() && take(rule, coarser, found);
}

// Under the numbers in force.
bool CoarserBuckets::take(Entry& entry, const CoarserPlan& coarser, CoarserLookup& found) noexcept {
    if (found.aggregation_level > coarser.levels.size()) {
        return false;
    }
    found.limit = &coarser.levels[found.aggregation_level - 1U];
    found.lookup.entry = &entry;
    const Stamp stamp = entry.stamp();
    return stamp.version == found.limit->version &&
           stamp.aggregation_level == found.aggregation_level;
}

void CoarserBuckets::count(const CoarserLookup& used) noexcept {
    const auto count = [&](TableEvent event) {
        core_.counters.by_table_event[static_cast<std::size_t>(event)].add(1);
    };
    count(TableEvent::TableFull);
    const CoarserPlan& coarser = plan_.coarser[used.limit->coarser - 1U];
    if (used.aggregation_level == coarser.last_level) {
        count(TableEvent::CoarsenedToRule);
    } else {
        count(used.aggregation_level == 1 ? TableEvent::Coarsened1 : TableEvent::Coarsened2);
    }
}

}  // namespace sluice
