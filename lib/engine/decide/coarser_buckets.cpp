#include "lib/engine/decide/coarser_buckets.hpp"

#include "lib/bucket/hash/group_key.hpp"
#include "lib/bucket/meter/any_meter.hpp"
#include "lib/bucket/table/take.hpp"

#include <algorithm>
#include <utility>

namespace sluice {

// No colour meter coarsens here.
Conformance CoarserBuckets::check_pooled(const LimitPlan& limit,
                                         const BucketLookup& lookup) noexcept {
    Cell cell = lookup.entry->cell();
    const Conformance conformance = check(cell, *limit.numbers, store_.registry.pool(), now_,
                                          {cost_of(limit, lookup), Color::Green});
    store_.registry.write(*lookup.entry, cell, now_);
    return conformance;
}

bool CoarserBuckets::is_current(const LimitPlan& limit, const BucketLookup& lookup) noexcept {
    return lookup.entry->slot_and_tag() == lookup.key.slot_and_tag &&
           lookup.entry->stamp().version == limit.version;
}

bool CoarserBuckets::can_evaluate(std::span<const BucketLookup> lookups, std::size_t row) noexcept {
    const auto has_queue = [&](const BucketLookup& lookup) {
        return plan_.limits[lookup.limit].has_queue;
    };
    return std::none_of(lookups.begin(), lookups.end(), has_queue) ||
           can_evaluate_all(lookups, row);
}

// A refusal by any of the rules can be carried out here; and where a key lacks a place or a line,
// or may find none, what stands for it is there.
bool CoarserBuckets::can_evaluate_all(std::span<const BucketLookup> lookups,
                                      std::size_t row) noexcept {
    const bool has_lines = store_.registry.pool().lines_to_give() >= lookups.size();
    bool gives_back = false;
    const auto can = [&](const BucketLookup& lookup) {
        const LimitPlan& limit = plan_.limits[lookup.limit];
        const RulePlan& rule = plan_.rules[limit.rule];
        const bool is_plain = limit.meter == FastMeter::Whole || limit.meter == FastMeter::Parts ||
                              limit.meter == FastMeter::Pooled;
        const bool is_there = lookup.entry != nullptr;
        if (!is_plain || !rule.refuses_fast || rule.tells_wait ||
            (is_there && !is_current(limit, lookup))) {
            return false;
        }
        CoarserLookup coarser;
        const bool needs_none = is_there && (!limit.has_queue || has_lines);
        const bool gave_back = std::exchange(gives_back, gives_back || limit.has_queue);
        return needs_none || (find(limit, lookup, row, coarser) &&
                              (is_there || !gave_back || coarser.lacks == TableEvent::TableFull));
    };
    return !core_.policy.tell_wait && std::all_of(lookups.begin(), lookups.end(), can);
}

// A parent has the one line that is kept for it: a log that finds no more goes on without.
bool CoarserBuckets::has_room(CoarserLookup& found) noexcept {
    const LimitPlan& limit = *found.limit;
    if (limit.gcra != nullptr) {
        return fits(*found.lookup.entry, *limit.gcra, now_.at, cost_of(limit, found.lookup));
    }
    const Conformance conformance = check_pooled(limit, found.lookup);
    found.lacks_line = conformance == Conformance::NoRoom;
    return conformance != Conformance::Red;
}

// An earlier packet of the burst may have brought the key.
std::optional<TableEvent> CoarserBuckets::what_it_lacks(const LimitPlan& limit,
                                                        const BucketLookup& lookup) noexcept {
    if (lookup.entry != nullptr) {
        return limit.has_queue && is_current(limit, lookup) ? std::optional{TableEvent::PoolFull}
                                                            : std::nullopt;
    }
    const bool is_table_full = store_.keys.is_full_for(lookup.key, now_);
    const bool is_pool_full = limit.meter == FastMeter::Pooled &&
                              !store_.registry.pool().has_line() &&
                              store_.keys.has_empty_for(lookup.key);
    if ((!is_table_full && !is_pool_full) || store_.keys.find(lookup.key) != nullptr) {
        return std::nullopt;
    }
    return is_table_full ? TableEvent::TableFull : TableEvent::PoolFull;
}

bool CoarserBuckets::find(const LimitPlan& limit, const BucketLookup& lookup, std::size_t row,
                          CoarserLookup& found) noexcept {
    if (limit.coarser == 0 || !has_row(scratch_.widened, row) || store_.previous() != nullptr) {
        return false;
    }
    const std::optional<TableEvent> lacks = what_it_lacks(limit, lookup);
    if (!lacks) {
        return false;
    }
    found.lacks = *lacks;
    found.lacks_line = false;
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
    count(used.lacks);
    if (used.lacks_line) {
        count(TableEvent::PoolFull);
    }
    const CoarserPlan& coarser = plan_.coarser[used.limit->coarser - 1U];
    if (used.aggregation_level == coarser.last_level) {
        count(TableEvent::CoarsenedToRule);
    } else {
        count(used.aggregation_level == 1 ? TableEvent::Coarsened1 : TableEvent::Coarsened2);
    }
}

}  // namespace sluice
