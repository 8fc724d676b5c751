#pragma once
#include "lib/policy/compile.hpp"

#include <span>

namespace sluice {

// The fate of what exceeds a rule, by all its actions that such packets may meet.
[[nodiscard]] Exceeding exceeding_of(const Rule& rule, std::span<const Action> actions);

// Notes it in the summaries of rules that are on; actions are in the set already.
void note_exceeding(CompiledRules& compiled);

}  // namespace sluice
