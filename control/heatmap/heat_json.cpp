#include "control/heatmap/heat_json.hpp"

#include "lib/watch/heatmap/heat_buckets.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <cmath>
#include <ctime>
#include <string>

namespace sluice {
namespace {

std::string second_text(std::int64_t utc) {
    return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(static_cast<std::time_t>(utc)));
}

double hundredths(double number) {
    return std::round(number * 100) / 100;
}

Json offered_edges_json() {
    Json edges = Json::array();
    for (std::size_t bucket = 0; bucket < kOfferedBuckets; ++bucket) {
        edges.push_back(hundredths(offered_edge(bucket)));
    }
    return edges;
}
Json left_edges_json() {
    Json edges = Json::array();
    for (std::size_t bucket = 0; bucket < kLeftBuckets; ++bucket) {
        edges.push_back(left_edge(bucket));
    }
    return edges;
}

Json heat_limits_json(const RuleSummary& rule) {
    Json limits = Json::array();
    for (std::size_t i = 0; i < rule.limits.size(); ++i) {
        const HeatTerms terms = heat_terms(rule.limits[i]);
        limits.push_back({{"index", i},
                          {"name", rule.limits[i].name},
                          {"text", terms.text},
                          {"unit", terms.unit},
                          {"most", terms.most},
                          {"window_s", terms.window_s},
                          {"tier", rule.keys.size() > 1 ? Json(rule.limits[i].tier + 1) : Json()}});
    }
    return limits;
}

Json heat_cells_json(std::span<const HeatCell> cells, std::uint64_t one_in) {
    Json rows = Json::array();
    for (const HeatCell& cell : cells) {
        rows.push_back({cell.bucket, cell.groups * one_in});
    }
    return rows;
}

Json heat_column_json(const std::optional<HeatColumn>& column) {
    if (!column) {
        return nullptr;
    }
    return {{"at", second_text(column->begins())},
            {"one_in", column->one_in()},
            {"groups", column->groups()},
            {"error", std::round(column->error() * 1e4) / 1e4},
            {"left_out", column->left_out()},
            {"offered", heat_cells_json(column->offered(), column->one_in())},
            {"left", heat_cells_json(column->left(), column->one_in())}};
}

}  // namespace

Json heat_maps_json(const DrawnMaps& maps, std::span<const std::optional<HeatColumn>> columns,
                    const HeatReading& reading) {
    const std::size_t bucket =
        maps.limit < maps.rule.limits.size()
            ? heat_terms(maps.rule.limits[maps.limit]).limit_bucket(maps.step)
            : 0;
    Json all = Json::array();
    for (const std::optional<HeatColumn>& column : columns) {
        all.push_back(heat_column_json(column));
    }
    return {{"limits", heat_limits_json(maps.rule)},
            {"limit", maps.limit},
            {"step_s", maps.step},
            {"from", second_text(maps.from)},
            {"to", second_text(maps.to)},
            {"steps", maps.steps},
            {"offered_edges", offered_edges_json()},
            {"left_edges", left_edges_json()},
            {"limit_bucket", bucket},
            {"columns", std::move(all)},
            {"reading",
             {{"kind", name_of(reading.kind)},
              {"says", reading.says},
              {"numbers", heat_numbers_json(reading.numbers)}}}};
}

}  // namespace sluice
