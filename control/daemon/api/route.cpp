#include "control/daemon/api/api.hpp"
#include "control/visible_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace sluice {
namespace {

using Resource = HttpResponse (*)(const HttpRequest&, Services&);

struct Route {
    std::string_view method;
    std::string_view path;  // `*` stands for one part
    Resource resource;
    // Names of the query, with blanks between them. A call with another one is refused: done
    // without it, a mistyped `confirm` would change the rules for good.
    std::string_view arguments = "";
    std::size_t most = 64U << 10;  // bytes of the body
    bool shows = false;            // changes nothing, whatever its method
};

constexpr std::string_view kAnyArguments = "*";  // of scrapers, which add their own
constexpr std::string_view kTerms = "file force strict confirm";
constexpr std::string_view kFileTerms = "file directory force strict confirm forgive";

constexpr std::size_t kMostOfKeys = 512U << 10;  // bytes: 256 keys with all that belongs to them

constexpr std::size_t kMostOfRule = 256U << 10;  // bytes: one rule, with the text around it

constexpr std::size_t kMostOfBans = 8U << 20;  // bytes: as many keys as can be banned by name

constexpr std::size_t kMostOfPackets = 1U << 20;  // bytes: a packet and those before it, in hex

constexpr auto kRoutes = std::to_array<Route>({
    {"GET", "/v1/rules", get_rules},
    {"PUT", "/v1/rules", put_rules, kFileTerms, kMaxBody},
    {"GET", "/v1/rules/source", get_source},
    {"POST", "/v1/rules/diff", post_diff, "file directory", kMaxBody},
    {"GET", "/v1/rules/files", get_files},
    {"POST", "/v1/rules", post_rule, "before after file force strict confirm", kMostOfRule},
    {"PUT", "/v1/rules/*", put_rule, kTerms, kMostOfRule},
    {"DELETE", "/v1/rules/*", delete_rule, kTerms},
    {"GET", "/v1/rules/*/full", get_rule},
    {"PUT", "/v1/rules/*/mode", put_mode},
    {"GET", "/v1/rules/*/key", get_key, "key limit tier"},
    {"POST", "/v1/rules/*/key", post_key},
    {"GET", "/v1/rules/*/keys", get_keys, "most after"},
    {"POST", "/v1/rules/*/keys", post_keys, "", kMostOfKeys},
    {"POST", "/v1/rules/*/bans", post_bans, "", kMostOfBans},
    {"POST", "/v1/rules/*/unbans", post_unbans, "", kMostOfBans},
    {"GET", "/v1/keys", get_live_keys, "rule most after"},
    {"GET", "/v1/bans", get_bans, "rule most after"},
    {"GET", "/v1/find", get_find, "of most after"},
    {"POST", "/v1/confirm", post_confirm},
    {"POST", "/v1/rollback", post_rollback, "set force strict confirm"},
    {"POST", "/v1/rollback/diff", post_rollback_diff, "set force strict confirm"},
    {"GET", "/v1/history", get_history},
    {"GET", "/v1/stats", get_stats},
    {"GET", "/v1/top", get_top, "rule by window count"},
    {"GET", "/v1/events", get_events, "rule from wait"},
    {"POST", "/v1/explain", post_explain, "account", kMostOfPackets, true},
    {"POST", "/v1/traces", post_traces},
    {"GET", "/v1/traces/*", get_trace, "wait"},
    {"DELETE", "/v1/traces/*", delete_trace},
    {"GET", "/v1/ports", get_ports},
    {"GET", "/v1/workers", get_workers},
    {"POST", "/v1/merge", post_merge},
    {"POST", "/v1/panic", post_panic},
    {"POST", "/v1/notify/*/test", post_notify_test},
    {"GET", "/v1/health", get_health},
    {"GET", "/v1/metrics", get_metrics, kAnyArguments},
});

bool fits(std::string_view pattern, std::string_view path) {
    const std::size_t star = pattern.find('*');
    if (star == std::string_view::npos) {
        return pattern == path;
    }
    const std::string_view before = pattern.substr(0, star);
    const std::string_view after = pattern.substr(star + 1);
    if (path.size() <= before.size() + after.size() || !path.starts_with(before) ||
        !path.ends_with(after)) {
        return false;
    }
    const std::string_view part =
        path.substr(before.size(), path.size() - before.size() - after.size());
    return part.find('/') == std::string_view::npos;
}

bool takes(const Route& row, std::string_view name) {
    std::string_view left = row.arguments;
    while (!left.empty()) {
        const std::size_t blank = std::min(left.find(' '), left.size());
        if (left.substr(0, blank) == name) {
            return true;
        }
        left.remove_prefix(std::min(blank + 1, left.size()));
    }
    return false;
}

HttpResponse answer(const Route& row, const HttpRequest& request, Services& services) {
    if (request.body.size() > row.most) {
        return problem_response(413, "too large", "the body of this call is small");
    }
    if (!request.repeated.empty() && row.arguments != kAnyArguments) {
        return bad_request("the query has `" + visible_line(request.repeated) +
                           "` twice; nobody can know which of the two is meant");
    }
    for (const auto& [name, value] : request.query) {
        // `?&a=1` has an empty one, which says nothing.
        if (!name.empty() && row.arguments != kAnyArguments && !takes(row, name)) {
            return bad_request(fmt::format("{} takes no `{}`{}", request.path, visible_line(name),
                                           row.arguments.empty()
                                               ? std::string{}
                                               : fmt::format("; it takes {}", row.arguments)));
        }
    }
    return row.resource(request, services);
}

bool only_shows(const HttpRequest& request) {
    return request.method == "GET" || request.method == "HEAD" ||
           std::ranges::any_of(kRoutes, [&](const Route& row) {
               return row.shows && row.method == request.method && fits(row.path, request.path);
           });
}

}  // namespace

HttpResponse route(const HttpRequest& request, Services& services) {
    if (request.read_only && !only_shows(request)) {
        return problem_response(403, "read only",
                                "this socket only shows; changes go to the one for operators");
    }
    std::string allowed;
    for (const Route& row : kRoutes) {
        if (!fits(row.path, request.path)) {
            continue;
        }
        if (row.method == request.method || (row.method == "GET" && request.method == "HEAD")) {
            return answer(row, request, services);
        }
        allowed += (allowed.empty() ? "" : ", ") + std::string{row.method};
        allowed += row.method == "GET" ? ", HEAD" : "";
    }
    if (allowed.empty()) {
        return problem_response(404, "not found", "there is no " + request.path);
    }
    HttpResponse response =
        problem_response(405, "method not allowed", request.path + " takes " + allowed);
    response.allow = allowed;
    return response;
}

std::string argument(const HttpRequest& request, const std::string& name,
                     const std::string& otherwise) {
    const auto found = request.query.find(name);
    return found == request.query.end() || found->second.empty() ? otherwise : found->second;
}

Result<Stats> ask_stats(Services& services) {
    return ask_for<Stats>(services.link, GetStats{});
}

std::string rule_in(const HttpRequest& request, std::string_view after) {
    constexpr std::string_view kBefore = "/v1/rules/";
    return request.path.substr(kBefore.size(), request.path.size() - kBefore.size() - after.size());
}

HttpResponse no_such_rule(const std::string& id) {
    return problem_response(404, "no such rule", "there is no rule " + id);
}

HttpResponse bad_request(const std::string& what) {
    return problem_response(400, "bad request", what);
}

HttpResponse no_dataplane(const Error& error) {
    switch (error.code) {
        case Errc::Unreachable:
            return problem_response(503, "no dataplane", error.what);
        case Errc::Busy:
            return busy_response(503, "busy", error.what);
        default:
            return problem_response(502, "refused by the dataplane", error.what);
    }
}

}  // namespace sluice
