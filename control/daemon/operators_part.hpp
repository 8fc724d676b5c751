#pragma once
#include "control/daemon/rules_file.hpp"

namespace sluice {

// Modes set at run time, and settings of single keys, of the operator's rules: without tenants'.
[[nodiscard]] ModeOverrides operators_modes(ModeOverrides modes);
[[nodiscard]] KeySettings operators_keys(KeySettings keys);

// True if they differ in nothing but modes and settings of single keys of tenants' rules.
[[nodiscard]] bool differ_in_tenants_alone(const StoredRules& one, const StoredRules& other);

}  // namespace sluice
