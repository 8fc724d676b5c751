#pragma once
#include "control/json.hpp"

namespace sluice {

// JSON Schema (2020-12) of rule files and of sluice.yaml, for editors. Both know the keys that the
// readers know; what a value may be beyond its type is said by `check`.
[[nodiscard]] Json rule_file_schema();
[[nodiscard]] Json box_file_schema();

}  // namespace sluice
