#pragma once
#include "control/daemon/api/api.hpp"
#include "control/daemon/heatmap/heatmaps.hpp"
#include "control/heatmap/limit_terms.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

// The questions for the heat map of a rule, and for one cell of it.
namespace sluice {

inline constexpr std::int64_t kMostHeatColumns = 720;  // of one answer

// A rule that has limits, one of them, and how long its columns are.
struct AskedMap {
    std::shared_ptr<const RuleView> view;
    const RuleSummary* rule = nullptr;
    unsigned limit = 0;
    HeatTerms terms{};
    unsigned step = 10;
    std::vector<unsigned> steps{};  // that it has
};
// The rule that stands in the path before `after`; or what is wrong.
[[nodiscard]] std::variant<AskedMap, HttpResponse> asked_map(const HttpRequest& request,
                                                             std::string_view after,
                                                             Services& services);
// The columns that are meant, by `from` and `to`: 30 min without them, until `now` (UTC, seconds).
[[nodiscard]] std::variant<HeatStore::Range, HttpResponse> asked_range(const HttpRequest& request,
                                                                       const AskedMap& asked,
                                                                       std::int64_t now);

// 2026-…Z, with a fraction or without, as UTC in seconds, rounded down.
[[nodiscard]] std::optional<std::int64_t> utc_seconds(const std::string& text);

}  // namespace sluice
