#include "control/daemon/api/change.hpp"
#include "control/daemon/api/heatmap_query.hpp"
#include "control/daemon/heatmap/heat_reader.hpp"
#include "control/daemon/live/gzip.hpp"
#include "control/heatmap/heat_json.hpp"
#include "control/heatmap/heat_reading.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <string_view>

namespace sluice {
namespace {

constexpr std::int64_t kReadSeconds = 3600;  // that a reading is of, unless a range is asked for

// The reading of the hour before `range` ends, or of what was asked for by its beginning: of
// columns of 10 s at least, since shorter ones are kept for some minutes alone.
HeatReading reading_of(const HttpRequest& request, const AskedMap& asked, HeatStore::Range range,
                       const HeatStore& store) {
    if (argument(request, "from", "").empty()) {
        range.step = std::max(asked.terms.step, 10U);
        range.to -= range.to % range.step;
        range.from = range.to - kReadSeconds;
    }
    return heat_reading(
        heat_numbers(store.columns(asked.rule->id, asked.limit, range), range.step, asked.terms),
        asked.terms);
}

enum class MapState : std::uint8_t { On, LookedAt, Off, OthersLook };

// Rules that whoever has that role can look at, at most.
std::size_t most_looked_at(Role role) {
    return role == Role::View ? Heatmaps::kMostOfViewers : kMostLookedAt;
}

// The reason for nothing being added to the map any more, of a rule that could have one; null: it
// is watched.
Json why_unwatched(MapState state, Role role) {
    return state == MapState::OthersLook
               ? Json(fmt::format("others look at {} rules, as many as may be at once; a rule with "
                                  "`heatmap: on` has its map always",
                                  most_looked_at(role)))
               : Json();
}

// The reason for there being nothing to draw; null: there is something.
Json why_empty(const AskedMap& asked, MapState state, Role role, const std::string& failed,
               const std::vector<std::optional<HeatColumn>>& columns) {
    const auto has_data = [](const auto& column) { return column.has_value(); };
    const auto has_groups = [](const auto& column) { return column && column->watched() != 0; };
    if (std::ranges::any_of(columns, has_groups)) {
        return nullptr;
    }
    if (asked.rule->mode == Mode::Off) {
        return "the rule is off";
    }
    if (asked.rule->limits.empty()) {
        return "the rule has no limit: it decides by its condition alone";
    }
    if (!failed.empty()) {
        return "nothing can be read of the dataplane: " + failed;
    }
    if (state == MapState::OthersLook) {
        return why_unwatched(state, role);
    }
    if (std::ranges::none_of(columns, has_data)) {
        return fmt::format("nothing of this time is kept{}; a column comes when its {} s are over",
                           state == MapState::On
                               ? ""
                               : ": the rule is watched while somebody looks, and always with "
                                 "`heatmap: on`",
                           asked.step);
    }
    return "the rule has matched nothing in this time";
}

MapState map_state(const AskedMap& asked, Role role, Services& services) {
    if (always_has_map(*asked.rule)) {
        return MapState::On;
    }
    if (asked.rule->mode == Mode::Off || asked.rule->limits.empty()) {
        return MapState::Off;
    }
    return services.heatmaps->look(asked.rule->id, role, Heatmaps::Clock::now())
               ? MapState::LookedAt
               : MapState::OthersLook;
}

HttpResponse packed_map(const HttpRequest& request, const Json& document) {
    HttpResponse response = json_response(document);
    response.headers.emplace_back("Vary", "Accept-Encoding");
    if (std::optional<std::string> bytes =
            takes_gzip(request) ? gzip(response.body) : std::nullopt) {
        response.body = *std::move(bytes);
        response.encoding = "gzip";
    }
    return response;
}

}  // namespace

HttpResponse get_heatmap(const HttpRequest& request, Services& services) {
    const auto question = asked_map(request, "/heatmap", services);
    if (const auto* wrong = std::get_if<HttpResponse>(&question)) {
        return *wrong;
    }
    const auto& asked = std::get<AskedMap>(question);
    const auto meant = asked_range(request, asked, std::time(nullptr));
    if (const auto* wrong = std::get_if<HttpResponse>(&meant)) {
        return *wrong;
    }
    const auto& range = std::get<HeatStore::Range>(meant);
    constexpr std::array<std::string_view, 4> kStates{"on", "looked_at", "off", "off"};
    const MapState state = map_state(asked, request.role, services);
    const HeatStore& store = services.heatmaps->store();
    const auto columns = store.columns(asked.rule->id, asked.limit, range);
    Json document{
        {"rule", asked.rule->id},
        {"generation",
         request.role == Role::Tenant ? Json() : Json(generation_text(asked.view->generation))},
        {"map", kStates[static_cast<std::size_t>(state)]}};
    document.update(heat_maps_json({.rule = *asked.rule,
                                    .limit = asked.limit,
                                    .step = range.step,
                                    .steps = asked.steps,
                                    .from = range.from,
                                    .to = range.to},
                                   columns, reading_of(request, asked, range, store)));
    document["why_empty"] =
        why_empty(asked, state, request.role, services.heatmaps->failed(), columns);
    document["why_unwatched"] = why_unwatched(state, request.role);
    return packed_map(request, document);
}

}  // namespace sluice
