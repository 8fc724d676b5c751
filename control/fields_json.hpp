#pragma once
#include "control/json.hpp"

namespace sluice {

// All fields, families and functions of the rule language, out of the tables that its compiler
// reads: [{"name","values","kind","operators","layer","says"}]. `layer`: 2, 3, 4, 7, or 0 of what
// belongs to no layer; `says` is for people.
[[nodiscard]] Json fields_json();

}  // namespace sluice
