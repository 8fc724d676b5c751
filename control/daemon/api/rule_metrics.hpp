#pragma once
#include "control/daemon/api/metrics_writer.hpp"
#include "control/daemon/rule_change.hpp"
#include "lib/wire/message.hpp"

#include <cstddef>
#include <vector>

// Metrics of rules. A thousand rules are shown in few series:
//
//   of every rule     packets it admitted; each other count of packets with its first event
//   of so many rules  the first in the file that have limits: bytes, live keys, and which limits
//                     refused; of all rules behind them the sum, under the rule kOtherRules
//
// A rule leaves or joins the detailed ones only when a file is applied that moves it, so no series
// comes and goes with traffic.
namespace sluice {

inline constexpr std::size_t kDetailedRules = 128;
inline constexpr std::size_t kDetailedLimits = 128;         // of rules with several, likewise
inline constexpr std::string_view kOtherRules = "_others";  // no id begins so

void put_rule_counts(MetricsWriter& text, const std::vector<RuleStats>& rules);
void put_rule_details(MetricsWriter& text, const std::vector<RuleStats>& rules);
void put_rule_modes(MetricsWriter& text, const RuleView& view, Nanoseconds utc);
void put_service_modes(MetricsWriter& text, const RuleView& view);

}  // namespace sluice
