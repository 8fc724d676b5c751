#pragma once
#include "lib/base/result.hpp"
#include "lib/base/units.hpp"

#include <string_view>

namespace sluice {

// `2027-12-31`, which is to the end of that day, or `2027-12-31T12:00:00Z`: since 1970, in UTC.
[[nodiscard]] Result<Nanoseconds> parse_until(std::string_view text);

}  // namespace sluice
