#pragma once
#include "lib/rules/rule_set.hpp"
#include "lib/wire/heatmap_messages.hpp"

#include <cstdint>

namespace sluice {

// The epochs of a dataplane whose epochs are the seconds of UTC, of rules with `heatmap: on` and of
// those looked at, up to the one before `utc_s`. In each the first limit of a rule has 100 watched
// keys of 400, at two sampling bits: 90 that offer 3 units and have four fifths left, eight that
// offer 20 and have a sixth left, and two that offer 200, of which 180 are refused. The last ten
// come from 203.0.113.0/24 and are known by name, and so are five of the others.
[[nodiscard]] HeatmapEpochs fake_heatmap(const ReadHeatmap& request, const RuleSet& rules,
                                         std::int64_t utc_s);

}  // namespace sluice
