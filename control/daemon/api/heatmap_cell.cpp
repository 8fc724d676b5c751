#include "control/daemon/api/heatmap_query.hpp"
#include "control/daemon/heatmap/shared_facts.hpp"
#include "control/json.hpp"
#include "lib/base/whole_number.hpp"
#include "lib/watch/heatmap/heat_buckets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>

namespace sluice {
namespace {

constexpr std::size_t kMostCellKeys = 200;

struct AskedCell {
    std::int64_t at = 0;
    bool by_offered = true;
    std::size_t bucket = 0;

    [[nodiscard]] bool has(const HeatKey& key) const {
        return bucket == (by_offered ? offered_bucket(key.offered) : left_bucket(key.left));
    }
};

std::variant<AskedCell, HttpResponse> asked_cell(const HttpRequest& request, unsigned step) {
    const std::string by = argument(request, "by", "");
    if (by != "offered" && by != "left") {
        return bad_request("`by` is offered or left");
    }
    const std::size_t rows = by == "left" ? kLeftBuckets : kOfferedBuckets;
    const auto bucket = whole_number<std::size_t>(argument(request, "bucket", ""));
    if (!bucket || *bucket >= rows) {
        return bad_request(fmt::format("`bucket` is a number from 0 to {}", rows - 1));
    }
    const std::optional<std::int64_t> at = utc_seconds(argument(request, "at", ""));
    if (!at) {
        return bad_request("`at` is the instant of a column, such as 2026-01-31T12:00:00Z");
    }
    return AskedCell{*at - *at % step, by == "offered", *bucket};
}

Json watched_key_json(const HeatKey& key, const HeatName& name) {
    return {{"key", name.key},
            {"offered", key.offered},
            {"refused", key.refused},
            {"left", std::round(key.left * 100.0 / HeatSample::kFull) / 100}};
}

// The watched keys of a cell that have names, those that offered most first, and those of the rest
// of the column.
struct Split {
    std::vector<std::pair<const HeatKey*, const HeatName*>> here;
    std::vector<const HeatName*> rest;
    std::uint64_t watched = 0;  // of the cell, those without a name too
};
Split split_of(const HeatStore::Named& named, const AskedCell& cell) {
    Split parts;
    for (const HeatCell& one : cell.by_offered ? named.column.offered() : named.column.left()) {
        parts.watched += one.bucket == cell.bucket ? one.groups : 0;
    }
    for (const HeatKey& key : named.keys) {
        const auto name = named.names.find(key.digest);
        if (name != named.names.end() && cell.has(key)) {
            parts.here.emplace_back(&key, &name->second);
        } else if (name != named.names.end()) {
            parts.rest.push_back(&name->second);
        }
    }
    std::ranges::stable_sort(parts.here, [](const auto& a, const auto& b) {
        return a.first->offered > b.first->offered;
    });
    return parts;
}

// Payloads are for those who may trace.
Json shared_facts_json(const Split& parts, const HttpRequest& request) {
    std::vector<const HeatName*> here;
    for (const auto& [key, name] : parts.here) {
        here.push_back(name);
    }
    Json shared = Json::array();
    for (const SharedFact& fact : shared_facts(here, parts.rest, request.role >= Role::Operate)) {
        shared.push_back({{"field", fact.field},
                          {"value", fact.value},
                          {"here", std::round(fact.here * 100) / 100},
                          {"rest", std::round(fact.rest * 100) / 100}});
    }
    return shared;
}

}  // namespace

HttpResponse get_heatmap_cell(const HttpRequest& request, Services& services) {
    const auto question = asked_map(request, "/heatmap/cell", services);
    if (const auto* wrong = std::get_if<HttpResponse>(&question)) {
        return *wrong;
    }
    const auto& asked = std::get<AskedMap>(question);
    const auto meant = asked_cell(request, asked.step);
    if (const auto* wrong = std::get_if<HttpResponse>(&meant)) {
        return *wrong;
    }
    const auto& cell = std::get<AskedCell>(meant);
    const std::optional<HeatStore::Named> named =
        services.heatmaps->store().named(asked.rule->id, asked.limit, asked.step, cell.at);
    if (!named) {
        return problem_response(404, "no data", "nothing is known of this column");
    }
    const Split found = split_of(*named, cell);
    Json keys = Json::array();
    for (const auto& [key, name] : found.here) {
        if (keys.size() < kMostCellKeys) {
            keys.push_back(watched_key_json(*key, *name));
        }
    }
    return json_response({{"groups", found.watched * named->column.one_in()},
                          {"one_in", named->column.one_in()},
                          {"keys", std::move(keys)},
                          {"shared", shared_facts_json(found, request)},
                          {"names_missing", found.watched - found.here.size()},
                          {"named", named->has_keys}});
}

}  // namespace sluice
