#pragma once
#include "control/json.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace sluice {

// Columns of a map that fit a terminal of this width; 0: it is none.
[[nodiscard]] std::size_t heatmap_columns(std::size_t width) noexcept;

// The maps of a limit, as GET /v1/rules/ID/heatmap has them, with legend and reading: `by` is
// offered, left, or empty for both.
[[nodiscard]] std::string heatmap_text(const Json& map, std::string_view by, std::size_t columns);

}  // namespace sluice
