#pragma once
#include "control/json.hpp"
#include "control/replay/draft_replay.hpp"

namespace sluice {

// What a capture made of a draft, in the form that a preview's result has: {"says","from","to",
// "seconds","unit","matched",…,"names","limits","heatmaps","unknown"}, and of a replay alone
// "packets", "verdicts", "rules" and "values".
[[nodiscard]] Json replayed_json(const DraftReplay& replay, const RuleSummary& draft,
                                 bool has_inside);

}  // namespace sluice
