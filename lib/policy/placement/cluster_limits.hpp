#pragma once
#include "lib/policy/compile.hpp"

#include <span>

// Limits that the boxes of a cluster share, for the cluster that a set is compiled for.
namespace sluice {

// The terms of a limit under which the workers of a box share a key of it beside the boxes.
[[nodiscard]] ClusterTerms cluster_terms_for(const SharedNumbers& numbers, const RssMapping& box,
                                             LimitScope scope);

// Writes how the limit is shared into its summary, which says that it is. `mode` is its rule's, and
// `shapes` says that packets of the rule may wait for their departure.
void note_cluster(LimitSummary& limit, const RssMapping& box, LimitScope scope, Mode mode,
                  bool shapes);

// Reports limits that this box cannot share, an error where their rule is on; those that are not
// shared yet, by `purpose`; and warns of those whose boxes may wait for the store.
void report_cluster_limits(std::span<const RuleSummary> rules, Purpose purpose, Problems& problems);

}  // namespace sluice
