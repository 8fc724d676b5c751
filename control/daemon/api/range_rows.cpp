#include "control/daemon/api/range_rows.hpp"

#include "control/active_json.hpp"
#include "control/daemon/api/change.hpp"
#include "lib/policy/overrides/named_ranges.hpp"

#include <chrono>
#include <memory>
#include <span>
#include <string>

namespace sluice {

namespace {

Json end_json(Nanoseconds until) {
    return until == kForever
               ? Json()
               : Json(utc_text(std::chrono::ceil<std::chrono::seconds>(until).count()));
}

Json row_json(const OverridePlace& place, bool exempt, Nanoseconds until,
              const std::shared_ptr<const std::string>& reason) {
    return {{"source", source_name(place.source)},
            {"line", place.line},
            {"says", exempt ? "exempt" : "numbers"},
            {"until", end_json(until)},
            {"reason", reason == nullptr ? "" : *reason}};
}

}  // namespace

Json named_row_json(const RuleSummary& rule, const NamedRow& row) {
    Json json = row_json(row.place, row.exempt, row.until, row.reason);
    json["limit"] =
        !row.exempt && row.limit < rule.limits.size() ? Json(rule.limits[row.limit].name) : Json();
    return json;
}

Json own_rows_json(const FoundKey& found) {
    Json rows = Json::array();
    if (found.rule->named != nullptr) {
        const Nanoseconds now = utc_now();
        found.rule->named->each_of(found.ask.key, std::as_bytes(std::span{found.ask.bytes}),
                                   [&](const NamedRow& row) {
                                       if (now < row.until) {
                                           rows.push_back(named_row_json(*found.rule, row));
                                       }
                                   });
    }
    return rows;
}

Json override_range_json(const NamedRange& range) {
    Json json = row_json(range.place, range.exempt, range.until, range.reason);
    json["key"] = to_text(range.range);
    json["tier"] = range.range.index + 1;
    return json;
}

Json range_row_json(const FoundKey& found, std::uint8_t nth) {
    const NamedRange* range = range_around(found.rule->ranges.get(), found.ask.key,
                                           std::as_bytes(std::span{found.ask.bytes}), nth);
    if (range == nullptr) {
        return {};
    }
    return override_range_json(*range);
}

}  // namespace sluice
