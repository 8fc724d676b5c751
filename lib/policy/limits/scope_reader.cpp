#include "lib/policy/limits/scope_reader.hpp"

#include <algorithm>
#include <string>

namespace sluice {

ScopeText read_scope(const MapReader& map) {
    ScopeText text;
    if (const auto word = map.word("scope", kClusterScopeNames)) {
        text.scope = static_cast<ClusterScope>(*word);
        text.scope_at = map.place_of_key("scope");
    }
    if (const auto word = map.word("owner_down", kOwnerDownNames)) {
        text.owner_down = static_cast<OwnerDown>(*word);
        text.owner_down_at = map.place_of_key("owner_down");
    }
    return text;
}

void check_owner_down(const ScopeText& of_rule, std::span<const LimitSummary> limits,
                      Problems& problems) {
    const bool may_share = std::ranges::any_of(limits, [](const LimitSummary& limit) {
        return limit.cluster.has_value() || !limit.numbers;
    });
    if (of_rule.owner_down && !may_share) {
        problems.error(of_rule.owner_down_at, std::string{kOwnerDownAlone});
    }
}

void refuse_scope_on_sight(const MapReader& rule, Problems& problems) {
    if (read_scope(rule).scope == ClusterScope::Cluster) {
        problems.error(rule.place_of_key("scope"),
                       "`scope: cluster` has no meaning beside `on_match`: it is for limits");
    }
}

}  // namespace sluice
