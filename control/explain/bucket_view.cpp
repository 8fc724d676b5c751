#include "control/explain/bucket_view.hpp"

namespace sluice {
namespace {

const AnyLimit& numbers_of(const BucketQuestion& asked) {
    return asked.own.numbers != nullptr ? *asked.own.numbers : asked.limit.limit;
}

BucketView view_cell(const Cell& cell, const LinePool& pool, const BucketQuestion& asked) {
    const AnyLimit& limit = numbers_of(asked);
    return {.fresh = false,
            .remaining = remaining(cell, limit, pool, asked.now),
            .wait = wait(cell, limit, pool, asked.now, asked.demand)};
}

}  // namespace

std::optional<BucketView> view_bucket(CoreState& core, const BucketQuestion& asked) {
    const GroupKey key = core.hash(asked.limit.identity, asked.key);
    LimitRegistry& registry = core.buckets.registry;
    LinePool& pool = registry.pool();
    if (Entry* entry = core.buckets.keys.find({key, asked.limit.slot})) {
        // As the packet would find it: what changes is only how the same debt is written down.
        if (asked.limit.overridden && !registry.bring_under(*entry, asked.own, asked.now)) {
            return std::nullopt;
        }
        return view_cell(registry.cell_of(*entry), pool, asked);
    }
    Cell cell;
    if (!open_bucket(cell, numbers_of(asked), pool, key, asked.now)) {
        return std::nullopt;
    }
    BucketView view = view_cell(cell, pool, asked);
    view.fresh = true;
    close_bucket(cell, asked.limit.limit, pool);
    return view;
}

}  // namespace sluice
