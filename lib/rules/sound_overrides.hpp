#pragma once
#include "lib/rules/rule_set.hpp"

namespace sluice {

// Checks that every number of a rule's overrides is what the workers rely on; true of a rule that
// has none.
[[nodiscard]] bool overrides_hold(const Rule& rule) noexcept;

}  // namespace sluice
