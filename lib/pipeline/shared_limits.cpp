#include "lib/pipeline/shared_limits.hpp"

#include "lib/ledger/terms.hpp"
#include "lib/pipeline/owner_burst.hpp"

namespace sluice {

void share_limits(RuleSet& set, const Sharers& sharers) {
    list_owner_rules(set, sharers.workers);
    for (Rule& rule : set.rules) {
        for (MeteredLimit& limit : rule.limits) {
            limit.shared = 0;
            if (sharers.workers < 2 || limit.scope != LimitScope::Merged || limit.overridden) {
                continue;
            }
            const SharingTerms terms =
                terms_for({.limit = limit.limit,
                           .largest_cost = largest_cost(limit.per == Per::Byte, rule.cost),
                           .workers = sharers.workers,
                           .merge_interval = sharers.merge_interval,
                           .max_unsynced = limit.max_unsynced});
            limit.shared = terms.max_unsynced;
        }
    }
}

}  // namespace sluice
