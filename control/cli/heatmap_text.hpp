#pragma once
#include "control/json.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sluice {

// Columns of a map that fit a terminal of this width; 0: it is none.
[[nodiscard]] std::size_t heatmap_columns(std::size_t width) noexcept;

// The number of the limit of this name among those that a map of the rule tells of; nullopt: there
// is none, which no_such_limit() says.
[[nodiscard]] std::optional<std::uint64_t> limit_named(const Json& map, std::string_view name);
[[nodiscard]] std::string no_such_limit(const Json& map, std::string_view name);

// The maps of a limit, as GET /v1/rules/ID/heatmap has them, with legend and reading: `by` is
// offered, left, or empty for both.
[[nodiscard]] std::string heatmap_text(const Json& map, std::string_view by, std::size_t columns);

}  // namespace sluice
