#pragma once
#include "lib/base/result.hpp"
#include "lib/base/units.hpp"

#include <string_view>

namespace sluice {

inline constexpr Nanoseconds kShortestConfirm = std::chrono::seconds{1};
inline constexpr Nanoseconds kLongestConfirm = std::chrono::hours{24};

// How long a rule set may wait to be confirmed: `60s`, `5m`, from 1s to 1d.
[[nodiscard]] Result<Nanoseconds> parse_confirm_time(std::string_view text);

}  // namespace sluice
