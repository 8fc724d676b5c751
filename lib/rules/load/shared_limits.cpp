#include "lib/rules/load/shared_limits.hpp"

#include "lib/peer/merge/cluster_terms.hpp"
#include "lib/peer/merge/ledger_store.hpp"
#include "lib/peer/merge/terms.hpp"
#include "lib/rules/load/owner_rules.hpp"

#include <algorithm>

namespace sluice {
namespace {

// Until the keys of a limit have moved, workers go on exchanging what they charge, or do not begin
// to.
void stay_as_it_was(LoadedLimit& limit, std::uint64_t largest) {
    if (limit.migrating_to == Combine::Sum) {
        limit.shared = 0;
    } else if (limit.migrating_to == Combine::Most && limit.shared == 0) {
        limit.shared = std::max<std::uint64_t>(2 * largest, 1);
        limit.overridden = false;
    }
}

// What becomes of a key once the store is away and its credit is spent. A box admits its share by
// charging as many units as there are boxes; open, nothing is charged, so that buckets empty.
ClusterBound bound_of(const LoadedLimit& limit, std::uint64_t box_unsynced, std::size_t machines) {
    ClusterBound bound{.box_unsynced = static_cast<std::uint32_t>(box_unsynced),
                       .closed_down = limit.owner_down == OwnerDown::Closed,
                       .machines = static_cast<std::uint16_t>(machines),
                       .windows = gcra_of(limit.limit) == nullptr};
    if (limit.owner_down == OwnerDown::LocalShare) {
        bound.times_down = static_cast<std::uint16_t>(machines);
    } else if (limit.owner_down == OwnerDown::Open) {
        bound.times_down = 0;
    }
    return bound;
}

static_assert(static_cast<int>(AskedDown::LocalShare) == static_cast<int>(OwnerDown::LocalShare) &&
              static_cast<int>(AskedDown::LastKnown) == static_cast<int>(OwnerDown::LastKnown) &&
              static_cast<int>(AskedDown::Open) == static_cast<int>(OwnerDown::Open) &&
              static_cast<int>(AskedDown::Closed) == static_cast<int>(OwnerDown::Closed));

// The store is asked about each request: neither workers nor boxes count by themselves.
bool ask_store(LoadedLimit& limit, const Sharers& sharers) {
    const StoreAsking asking = store_asking_of(limit.limit);
    if (!asking.is_asked()) {
        return false;
    }
    limit.asks_store = asking;
    limit.asks_store.machines = static_cast<std::uint16_t>(sharers.machines);
    limit.asks_store.down = static_cast<AskedDown>(limit.owner_down);
    limit.asked = true;
    return true;
}

// Open connections of a key are counted by one worker of each box. While keys move to other
// workers the limit is the box's.
bool share_gauges(LoadedLimit& limit, const Sharers& sharers) {
    const ClusterTerms terms = cluster_terms_for({.limit = limit.limit,
                                                  .largest_cost = 1,
                                                  .machines = sharers.machines,
                                                  .workers = 1,
                                                  .merge_interval = sharers.merge_interval});
    if (terms.sharing != ClusterSharing::Merged || limit.migrating_to) {
        return false;
    }
    limit.cluster_overshoot = terms.overshoot;
    limit.cluster = bound_of(limit, terms.box_unsynced, sharers.machines);
    limit.cluster.windows = false;
    limit.cluster.overshoot = terms.overshoot;
    return true;
}

// A limit of the cluster is shared by the box's workers too, however packets come to them: the one
// that a key is its hash's owner's tells the store of all that the box spends; or the store is
// asked, but by a rule that only monitors: no request waits for that one, which is judged by the
// box alone. True: it is shared so.
bool share_with_cluster(LoadedLimit& limit, std::uint64_t largest, bool enforces,
                        const Sharers& sharers) {
    const bool is_of_it = limit.cluster_scope == ClusterScope::Cluster && sharers.machines > 1;
    if (is_of_it && !limit.overridden && has_gauges(limit.limit)) {
        return share_gauges(limit, sharers);
    }
    if (!is_of_it || limit.overridden) {
        return false;
    }
    // Where the packets of a key come to one worker, that one and the key's owner are all.
    const bool merged = limit.scope == LimitScope::Merged;
    const std::size_t workers =
        merged ? sharers.workers : std::min<std::size_t>(sharers.workers, 2);
    const ClusterTerms terms = cluster_terms_for({.limit = limit.limit,
                                                  .largest_cost = largest,
                                                  .machines = sharers.machines,
                                                  .workers = workers,
                                                  .merge_interval = sharers.merge_interval,
                                                  .requests = !is_of_packet(limit.per),
                                                  .max_unsynced = limit.max_unsynced});
    if (terms.sharing == ClusterSharing::Asked) {
        return enforces && ask_store(limit, sharers);
    }
    if (terms.sharing != ClusterSharing::Merged || limit.asked || !is_told_to_store(limit.limit)) {
        return false;
    }
    limit.cluster_overshoot = terms.overshoot;
    limit.cluster = bound_of(limit, terms.box_unsynced, sharers.machines);
    limit.cluster.overshoot = terms.overshoot;
    limit.shared = sharers.workers > 1 ? terms.worker_unsynced : terms.box_unsynced;
    return true;
}

}  // namespace

void share_limits(LoadedSet& set, const Sharers& sharers) {
    list_owner_rules(set, sharers.workers);
    for (LoadedRule& rule : set.rules) {
        const bool have_numbers = rule.overrides != nullptr && rule.overrides->have_numbers();
        for (LoadedLimit& limit : rule.limits) {
            limit.shared = 0;
            limit.cluster = {};
            limit.asks_store = {};
            limit.asked = limit.scope == LimitScope::Asked && sharers.workers > 1;
            limit.overridden = limit.overridden || have_numbers;
            const std::uint64_t largest = largest_cost(limit.per == Per::Byte, rule.largest_cost());
            const bool of_cluster = share_with_cluster(
                limit, largest, rule.mode == Mode::Enforce && !rule.candidate, sharers);
            if (sharers.workers < 2 || limit.asks_store.is_asked()) {
                continue;
            }
            if (!of_cluster && limit.scope == LimitScope::Merged && !limit.overridden) {
                limit.shared = terms_for({.limit = limit.limit,
                                          .largest_cost = largest,
                                          .workers = sharers.workers,
                                          .merge_interval = sharers.merge_interval,
                                          .max_unsynced = limit.max_unsynced})
                                   .max_unsynced;
            }
            stay_as_it_was(limit, largest);
            if (limit.shared == 0 && !has_gauges(limit.limit)) {
                limit.cluster = {};
            }
        }
    }
}

}  // namespace sluice
