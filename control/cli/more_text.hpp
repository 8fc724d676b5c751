#pragma once
#include "control/json.hpp"

#include <string>

namespace sluice {

// For people: the place at which a list was cut, `more: --after 'NEXT'`, as a shell takes it;
// empty: it was not.
[[nodiscard]] std::string more_text(const Json& document);

}  // namespace sluice
