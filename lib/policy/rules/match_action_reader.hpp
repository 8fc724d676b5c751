#pragma once
#include "lib/policy/rules/action_reader.hpp"
#include "lib/policy/yaml/map_reader.hpp"

namespace sluice {

// `on_match` of a rule, which has it: `drop`, `allow`, or an action as `on_exceed` has them.
// Without a limit nothing waits, and an answer has no quota to tell of.
[[nodiscard]] ActionText read_match_action(const MapReader& rule, const ReadContext& context);

}  // namespace sluice
