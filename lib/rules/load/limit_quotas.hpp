#pragma once
#include "lib/respond/answer/answer_plan.hpp"
#include "lib/rules/load/loaded_set.hpp"

#include <vector>

namespace sluice {

// The quotas that answers to refused requests name: of each limit its burst or count, and the time
// that fills it.
[[nodiscard]] LimitQuotas limit_quotas(const std::vector<LoadedRule>& rules);

}  // namespace sluice
