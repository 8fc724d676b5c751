#include "control/daemon/api/heatmap_query.hpp"

#include "control/daemon/api/tenant_view.hpp"
#include "lib/base/whole_number.hpp"
#include "lib/watch/heatmap/heat_buckets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ctime>

namespace sluice {
namespace {

constexpr std::int64_t kUsualSeconds = 1800;
constexpr std::int64_t kUnread = 3;  // seconds: the newest ones are on their way still

std::string steps_text(const std::vector<unsigned>& steps) {
    std::string text;
    for (const unsigned step : steps) {
        text += fmt::format("{}{}", text.empty() ? "" : ", ", step);
    }
    return text;
}

// The instant that an argument names; `otherwise` where it is absent.
std::optional<std::int64_t> asked_instant(const HttpRequest& request, const char* name,
                                          std::int64_t otherwise) {
    const std::string text = argument(request, name, "");
    return text.empty() ? std::optional{otherwise} : utc_seconds(text);
}

}  // namespace

std::optional<std::int64_t> utc_seconds(const std::string& text) {
    std::tm at{};
    const char* rest = ::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &at);
    if (rest == nullptr) {
        return std::nullopt;
    }
    if (*rest == '.') {
        do {
            ++rest;
        } while (*rest >= '0' && *rest <= '9');
    }
    const std::time_t seconds = ::timegm(&at);
    const bool ends = rest[0] == 'Z' && rest[1] == '\0';
    return ends && seconds >= 0 ? std::optional<std::int64_t>{seconds} : std::nullopt;
}

std::variant<AskedMap, HttpResponse> asked_map(const HttpRequest& request, std::string_view after,
                                               Services& services) {
    const std::string id = rule_in(request, after);
    AskedMap asked{.view = view_for(request, services)};
    asked.rule = find_rule(asked.view->rules, id);
    if (asked.rule == nullptr) {
        return no_such_rule(id);
    }
    const std::size_t limits = asked.rule->limits.size();
    const auto limit = whole_number<unsigned>(argument(request, "limit", "0"));
    if (!limit || *limit >= std::max<std::size_t>(limits, 1)) {
        return bad_request(limits < 2
                               ? "`limit` is 0: the rule has no other"
                               : fmt::format("`limit` is a number from 0 to {}", limits - 1));
    }
    asked.limit = *limit;
    asked.terms = limits == 0 ? HeatTerms{} : heat_terms(asked.rule->limits[*limit]);
    asked.steps = HeatStore::steps_of(asked.terms.step);
    const auto step =
        whole_number<unsigned>(argument(request, "step", std::to_string(asked.terms.step)));
    if (!step || std::ranges::find(asked.steps, *step) == asked.steps.end()) {
        return bad_request(fmt::format("`step` is one of {}: the seconds of a column of this limit",
                                       steps_text(asked.steps)));
    }
    asked.step = *step;
    return asked;
}

std::variant<HeatStore::Range, HttpResponse> asked_range(const HttpRequest& request,
                                                         const AskedMap& asked, std::int64_t now) {
    const auto step = static_cast<std::int64_t>(asked.step);
    const std::optional<std::int64_t> to = asked_instant(request, "to", now - kUnread);
    const std::int64_t most = std::min(kUsualSeconds, kMostHeatColumns * step);
    const std::optional<std::int64_t> from =
        asked_instant(request, "from", to.value_or(0) - std::min(most, to.value_or(0)));
    if (!from || !to) {
        return bad_request("`from` and `to` are instants such as 2026-01-31T12:00:00Z");
    }
    const HeatStore::Range range{asked.step, *from - *from % step, *to - *to % step};
    if (range.from >= range.to || range.to - range.from > kMostHeatColumns * step) {
        return bad_request(fmt::format("from `from` to `to` are 1 to {} columns of {} s",
                                       kMostHeatColumns, asked.step));
    }
    return range;
}

}  // namespace sluice
