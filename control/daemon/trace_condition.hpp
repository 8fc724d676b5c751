#pragma once
#include "lib/policy/rules/lone_condition.hpp"

#include <string>

namespace sluice {

// The condition of a trace. One compiles at a time, with the patterns of conditions before it,
// which are kept apart from those of rules; it ends when the process does.
[[nodiscard]] LoneCondition compile_condition(const std::string& when, const RssMapping& box);

}  // namespace sluice
