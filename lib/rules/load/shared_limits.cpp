#include "lib/rules/load/shared_limits.hpp"

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

}  // namespace

void share_limits(LoadedSet& set, const Sharers& sharers) {
    list_owner_rules(set, sharers.workers);
    for (LoadedRule& rule : set.rules) {
        const bool have_numbers = rule.overrides != nullptr && rule.overrides->have_numbers();
        for (LoadedLimit& limit : rule.limits) {
            limit.shared = 0;
            limit.asked = limit.scope == LimitScope::Asked && sharers.workers > 1;
            limit.overridden = limit.overridden || have_numbers;
            if (sharers.workers < 2) {
                continue;
            }
            const std::uint64_t largest = largest_cost(limit.per == Per::Byte, rule.largest_cost());
            if (limit.scope == LimitScope::Merged && !limit.overridden) {
                limit.shared = terms_for({.limit = limit.limit,
                                          .largest_cost = largest,
                                          .workers = sharers.workers,
                                          .merge_interval = sharers.merge_interval,
                                          .max_unsynced = limit.max_unsynced})
                                   .max_unsynced;
            }
            stay_as_it_was(limit, largest);
        }
    }
}

}  // namespace sluice
