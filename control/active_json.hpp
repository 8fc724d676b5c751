#pragma once
#include "control/json.hpp"
#include "lib/base/units.hpp"
#include "lib/policy/compile.hpp"

#include <string>

namespace sluice {

// The time of day, since 1970 in UTC.
[[nodiscard]] Nanoseconds utc_now();

// A rule's `active` as of then: {"text","now","changes"}, whose last is the instant at which it
// becomes the other, null if none is near.
[[nodiscard]] Json active_json(const ActiveTimes& times, Nanoseconds utc);

// True of a rule that would judge but for the time of day.
[[nodiscard]] bool is_inactive(const RuleSummary& rule, Nanoseconds utc);

// null where it is active at that instant, or has no `active`; else next_text().
[[nodiscard]] Json inactive_json(const RuleSummary& rule, Nanoseconds utc);

// "now, until 2026-11-27T15:00:00Z", "not before 2026-11-30T06:00:00Z".
[[nodiscard]] std::string next_text(const ActiveTimes& times, Nanoseconds utc);
[[nodiscard]] std::string next_text(const Json& active);

}  // namespace sluice
