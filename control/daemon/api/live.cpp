#include "control/daemon/api/change.hpp"
#include "control/daemon/live/gzip.hpp"
#include "control/daemon/live/live_board.hpp"
#include "lib/base/whole_number.hpp"
#include "lib/rules/rule_set.hpp"

#include <fmt/format.h>

#include <chrono>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace sluice {
namespace {

constexpr std::uint64_t kLongestLiveWait = 10;  // seconds
constexpr std::chrono::seconds kFirstSecond{3};

const std::pair<std::string, std::string> kVary{"Vary", "Accept-Encoding"};

struct AskedLive {
    std::uint64_t after = 0;
    std::chrono::seconds wait{0};
    LiveQuery query;
};

// A number of the query; or what is wrong with it.
struct Bounded {
    const char* name;
    const char* otherwise;
    std::uint64_t least;
    std::uint64_t most;
};
std::variant<std::uint64_t, HttpResponse> bounded(const HttpRequest& request,
                                                  const Bounded& asked) {
    const std::optional<std::uint64_t> number =
        whole_number(argument(request, asked.name, asked.otherwise));
    if (!number || *number < asked.least || *number > asked.most) {
        return bad_request(
            fmt::format("`{}` is a number from {} to {}", asked.name, asked.least, asked.most));
    }
    return *number;
}

std::string column_list() {
    std::string list;
    for (const std::string_view name : kLiveColumnNames) {
        list += (list.empty() ? "" : ", ") + std::string{name};
    }
    return list;
}

// The part of the query that is for the rules.
std::optional<HttpResponse> read_query(const HttpRequest& request, LiveQuery& query) {
    const std::string view = argument(request, "view", "overview");
    if (view == "overview") {
        for (const char* name : {"sort", "order", "filter", "id", "first", "most"}) {
            if (!argument(request, name, "").empty()) {
                return bad_request(fmt::format("`{}` is for view=rules", name));
            }
        }
        return std::nullopt;
    }
    if (view != "rules") {
        return bad_request("`view` is overview or rules");
    }
    const std::optional<LiveColumn> column = live_column(argument(request, "sort", "matched_pps"));
    if (!column) {
        return bad_request("`sort` is one of " + column_list());
    }
    const std::string order = argument(request, "order", is_text(*column) ? "asc" : "desc");
    if (order != "asc" && order != "desc") {
        return bad_request("`order` is asc or desc");
    }
    query.sort = *column;
    query.descending = order == "desc";
    query.filter = argument(request, "filter", "");
    if (query.filter.size() > kMostLiveFilter) {
        return bad_request(fmt::format("`filter` has at most {} bytes", kMostLiveFilter));
    }
    query.id = argument(request, "id", "");
    if (query.id.size() > kMaxRuleIdSize) {
        return bad_request(fmt::format("`id` has at most {} bytes", kMaxRuleIdSize));
    }
    const auto first = bounded(request, {"first", "0", 0, std::numeric_limits<int>::max()});
    const auto most = bounded(request, {"most", "64", 1, kMostLiveRules});
    for (const auto* one : {&first, &most}) {
        if (const auto* wrong = std::get_if<HttpResponse>(one)) {
            return *wrong;
        }
    }
    query.first = std::get<std::uint64_t>(first);
    query.most = std::get<std::uint64_t>(most);
    return std::nullopt;
}

std::optional<HttpResponse> read_live(const HttpRequest& request, AskedLive& asked) {
    const auto after =
        bounded(request, {"after", "0", 0, std::numeric_limits<std::int64_t>::max()});
    const auto wait = bounded(request, {"wait", "3", 0, kLongestLiveWait});
    for (const auto* one : {&after, &wait}) {
        if (const auto* wrong = std::get_if<HttpResponse>(one)) {
            return *wrong;
        }
    }
    asked.after = std::get<std::uint64_t>(after);
    asked.wait = std::chrono::seconds{std::get<std::uint64_t>(wait)};
    asked.query.tenant = request.tenant;
    return read_query(request, asked.query);
}

HttpResponse no_snapshot() {
    return busy_response(503, "busy", "the dataplane is busy, and no second of it was read yet");
}

}  // namespace

HttpResponse get_live(const HttpRequest& request, Services& services) {
    AskedLive asked;
    if (std::optional<HttpResponse> wrong = read_live(request, asked)) {
        return *std::move(wrong);
    }
    const LiveBoard::Shown shown = services.live->wait(asked.after, asked.wait);
    if (shown == nullptr) {
        return no_snapshot();
    }
    HttpResponse response{.status = 200, .headers = {kVary}};
    if (takes_gzip(request)) {
        response.shared = shown->compressed(asked.query);
        response.encoding = response.shared == nullptr ? "" : "gzip";
    }
    if (response.shared == nullptr) {
        response.shared = shown->plain(asked.query);
    }
    return response;
}

HttpResponse get_series(const HttpRequest& request, Services& services) {
    constexpr std::uint64_t kMost = LiveHistory::kSeconds;
    const auto seconds = bounded(request, {"seconds", "600", 1, kMost});
    if (const auto* wrong = std::get_if<HttpResponse>(&seconds)) {
        return *wrong;
    }
    const std::string rule = argument(request, "rule", "");
    LiveBoard::Series series = services.live->series(
        rule, static_cast<std::int64_t>(std::get<std::uint64_t>(seconds)), kFirstSecond);
    if (series.until == nullptr) {
        return no_snapshot();
    }
    if (!series.columns) {
        return no_such_rule(rule);
    }
    const LiveSnapshot& snapshot = series.until->snapshot();
    HttpResponse response = json_response({{"run", services.live->origin().run},
                                           {"to", snapshot.at},
                                           {"step_s", 1},
                                           {"snapshot", snapshot.number},
                                           {"columns", *std::move(series.columns)}});
    response.headers.push_back(kVary);
    if (std::optional<std::string> packed =
            takes_gzip(request) ? gzip(response.body) : std::nullopt) {
        response.body = *std::move(packed);
        response.encoding = "gzip";
    }
    return response;
}

}  // namespace sluice
