#include "control/cli/explain/bucket_view.hpp"

namespace sluice {
namespace {

BucketView view_cell(const Cell& cell, const LinePool& pool, const BucketQuestion& asked) {
    const AnyLimit& limit = asked.limit.limit;
    return {.fresh = false,
            .remaining = remaining(cell, limit, pool, asked.now),
            .wait = wait(cell, limit, pool, asked.now, asked.demand)};
}

}  // namespace

std::optional<BucketView> view_bucket(CoreState& core, const BucketQuestion& asked) {
    const GroupKey key = core.hash(asked.limit.identity, asked.key);
    LinePool& pool = core.buckets.tenants.pool();
    if (const Entry* entry = core.buckets.keys.find({key, asked.limit.slot})) {
        return view_cell(entry->cell(), pool, asked);
    }
    Cell cell;
    if (!open_bucket(cell, asked.limit.limit, pool, key, asked.now)) {
        return std::nullopt;
    }
    BucketView view = view_cell(cell, pool, asked);
    view.fresh = true;
    close_bucket(cell, algorithm_of(asked.limit.limit), pool);
    return view;
}

}  // namespace sluice
