#pragma once
#include "lib/rules/rule_set.hpp"

namespace sluice {

// Limits of things each of which counts once, however often it comes: open connections, and
// different values of a field. nullptr: those of the rule are sound; else what is wrong.
[[nodiscard]] const char* fault_of_what_counts_once(const Rule& rule) noexcept;

}  // namespace sluice
