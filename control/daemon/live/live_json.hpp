#pragma once
#include "control/daemon/live/live_views.hpp"

#include <cmath>
#include <cstdint>

namespace sluice {

// A rate without digits that say nothing: whole from 100 on, else tenths. null: nobody knows it.
[[nodiscard]] Json rate_json(LiveRate rate);
[[nodiscard]] Json rate_json(float rate);

// All of a snapshot but its rules.
[[nodiscard]] Json live_json(const LiveSnapshot& snapshot, const LiveOrigin& origin);
// The part of that which somebody of a tenant may know: whether their rules are judged by now.
[[nodiscard]] Json tenant_live_json(const LiveSnapshot& snapshot, const LiveOrigin& origin);
[[nodiscard]] Json live_rule_json(const LiveRule& rule);

}  // namespace sluice
