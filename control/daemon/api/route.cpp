#include "control/daemon/api/api.hpp"
#include "control/daemon/api/tenant_view.hpp"
#include "control/daemon/web/asset_answer.hpp"
#include "control/visible_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

namespace sluice {
namespace {

using Resource = HttpResponse (*)(const HttpRequest&, Services&);

// Callers that a row admits: operators by the least role, and what somebody of a tenant may do with
// it.
struct Callers {
    // NOLINTNEXTLINE(google-explicit-constructor): a row names the role alone where that is all
    constexpr Callers(Role least, ForTenant tenant = ForTenant::Refused)
        : role{least}, for_tenant{tenant} {}
    Role role;
    ForTenant for_tenant;

    // True of calls that change something: to view is not enough for them.
    [[nodiscard]] constexpr bool changes() const { return role > Role::View; }
};

struct Route {
    std::string_view method;
    std::string_view path;  // `*` stands for one part
    Callers callers;
    Resource resource;
    // Names of the query, with blanks between them. A call with another one is refused: done
    // without it, a mistyped `confirm` would change the rules for good.
    std::string_view arguments = "";
    std::size_t most = 64U << 10;  // bytes of the body
};

constexpr std::string_view kAnyArguments = "*";  // of scrapers, which add their own
constexpr std::string_view kTerms = "file force strict confirm detach";
constexpr std::string_view kFileTerms = "file directory force strict confirm forgive detach";

constexpr std::size_t kMostOfKeys = 512U << 10;  // bytes: 256 keys with all that belongs to them

constexpr std::size_t kMostOfRule = 256U << 10;  // bytes: one rule, with the text around it

constexpr std::size_t kMostOfBans = 8U << 20;  // bytes: as many keys as can be banned by name

constexpr std::size_t kMostOfPackets = 1U << 20;  // bytes: a packet and those before it, in hex

constexpr std::size_t kMostOfReplay = 12U << 20;  // bytes: a capture of 8 MiB in base64, and a rule

constexpr std::size_t kMostOfSecret = 4U << 10;  // bytes, of a stranger

constexpr std::size_t kMostOfTenant = 1U << 20;  // bytes: as much text as a tenant may have

constexpr auto kRoutes = std::to_array<Route>({
    {"GET", "/v1/rules", {Role::View, ForTenant::OwnOnly}, get_rules},
    {"PUT", "/v1/rules", Role::Admin, put_rules, kFileTerms, kMaxBody},
    {"GET", "/v1/rules/source", Role::View, get_source},
    {"POST", "/v1/rules/diff", Role::Operate, post_diff, "file directory", kMaxBody},
    {"POST", "/v1/rules/check", Role::View, post_check, "file rule", kMostOfRule},
    {"GET", "/v1/rules/files", Role::View, get_files},
    {"POST", "/v1/rules", Role::Admin, post_rule, "before after file force strict confirm detach",
     kMostOfRule},
    {"PUT", "/v1/rules/*", Role::Admin, put_rule, kTerms, kMostOfRule},
    {"DELETE", "/v1/rules/*", Role::Admin, delete_rule, kTerms},
    {"GET", "/v1/rules/*/full", {Role::View, ForTenant::OwnRule}, get_rule},
    {"PUT", "/v1/rules/*/mode", {Role::Operate, ForTenant::OwnRule}, put_mode, "detach"},
    {"GET", "/v1/rules/*/key", {Role::View, ForTenant::OwnRule}, get_key, "key limit tier"},
    {"POST", "/v1/rules/*/key", {Role::Operate, ForTenant::OwnRule}, post_key},
    {"GET", "/v1/rules/*/keys", {Role::View, ForTenant::OwnRule}, get_keys, "most after"},
    {"GET",
     "/v1/rules/*/heatmap",
     {Role::View, ForTenant::OwnRule},
     get_heatmap,
     "limit step from to"},
    {"GET",
     "/v1/rules/*/heatmap/cell",
     {Role::View, ForTenant::OwnRule},
     get_heatmap_cell,
     "limit step at by bucket"},
    {"POST", "/v1/rules/*/keys", {Role::Operate, ForTenant::OwnRule}, post_keys, "", kMostOfKeys},
    {"POST", "/v1/rules/*/bans", {Role::Operate, ForTenant::OwnRule}, post_bans, "", kMostOfBans},
    {"POST",
     "/v1/rules/*/unbans",
     {Role::Operate, ForTenant::OwnRule},
     post_unbans,
     "",
     kMostOfBans},
    {"GET", "/v1/keys", {Role::View, ForTenant::AskedRule}, get_live_keys, "rule most after"},
    {"GET",
     "/v1/bans",
     {Role::View, ForTenant::OwnOnly},
     get_bans,
     "rule source filter sort most after"},
    {"GET", "/v1/find", Role::View, get_find, "of most after"},
    {"POST", "/v1/confirm", Role::Operate, post_confirm, "detach"},
    {"POST", "/v1/rollback", Role::Admin, post_rollback, "set force strict confirm detach"},
    {"POST", "/v1/rollback/diff", Role::Operate, post_rollback_diff, "set force strict confirm"},
    {"GET", "/v1/history", Role::View, get_history},
    {"GET", "/v1/stats", Role::View, get_stats},
    {"GET", "/v1/top", {Role::View, ForTenant::AskedRule}, get_top, "rule by window count"},
    {"GET",
     "/v1/events",
     {Role::View, ForTenant::OwnOnly},
     get_events,
     "rule kind newest from wait"},
    {"POST", "/v1/explain", Role::View, post_explain, "account", kMostOfPackets},
    {"POST", "/v1/simulate", {Role::View, ForTenant::Anything}, post_simulate},
    {"POST", "/v1/replay", Role::Operate, post_replay, "file rule", kMostOfReplay},
    {"POST", "/v1/traces", Role::Operate, post_traces},
    {"GET", "/v1/traces/*", Role::Operate, get_trace, "wait"},
    {"DELETE", "/v1/traces/*", Role::Operate, delete_trace},
    {"POST", "/v1/previews", Role::Operate, post_previews, "file rule", kMostOfRule},
    {"GET", "/v1/previews/*", Role::Operate, get_preview, "wait"},
    {"DELETE", "/v1/previews/*", Role::Operate, delete_preview},
    {"GET",
     "/v1/live",
     {Role::View, ForTenant::OwnOnly},
     get_live,
     "after wait view sort order filter id first most"},
    {"GET", "/v1/fields", {Role::View, ForTenant::Anything}, get_fields},
    {"GET", "/v1/schema", {Role::View, ForTenant::Anything}, get_schema, "of"},
    {"GET", "/v1/series", {Role::View, ForTenant::AskedRule}, get_series, "seconds rule"},
    {"GET", "/v1/ports", Role::View, get_ports},
    {"GET", "/v1/workers", Role::View, get_workers},
    {"POST", "/v1/merge", Role::Admin, post_merge},
    {"POST", "/v1/panic", Role::Admin, post_panic},
    {"POST", "/v1/notify/*/test", Role::Admin, post_notify_test},
    {"GET", "/v1/cluster", Role::View, get_cluster},
    {"GET", "/v1/cluster/nodes", Role::View, get_cluster_nodes},
    {"GET", "/v1/tenants", Role::View, get_tenants},
    {"GET", "/v1/tenants/*/rules", {Role::View, ForTenant::OwnName}, get_tenant_rules},
    {"PUT",
     "/v1/tenants/*/rules",
     {Role::Admin, ForTenant::OwnName},
     put_tenant_rules,
     "file confirm",
     kMostOfTenant},
    {"POST",
     "/v1/tenants/*/check",
     {Role::Operate, ForTenant::OwnName},
     post_tenant_check,
     "file",
     kMostOfTenant},
    {"POST", "/v1/tenants/*/confirm", {Role::Admin, ForTenant::OwnName}, post_tenant_confirm},
    {"POST", "/v1/tenants/*/rollback", {Role::Admin, ForTenant::OwnName}, post_tenant_rollback},
    {"DELETE", "/v1/tenants/*", Role::Admin, delete_tenant},
    {"POST", "/v1/session", Role::None, post_session, "", kMostOfSecret},
    {"GET", "/v1/session", {Role::View, ForTenant::OwnOnly}, get_session},
    {"DELETE", "/v1/session", {Role::View, ForTenant::OwnOnly}, delete_session},
    {"POST", "/v1/session/link", Role::Admin, post_session_link},
    {"GET", "/v1/health", Role::View, get_health},
    {"GET", "/v1/metrics", Role::View, get_metrics, kAnyArguments},
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

RouteShape shape_of(const Route& row) {
    return {row.method, row.path, row.callers.role, row.callers.for_tenant};
}

// The part of a path that a row leaves open.
std::string_view named_by(const Route& row, std::string_view path) {
    const std::size_t star = row.path.find('*');
    return star == std::string_view::npos ? std::string_view{}
                                          : path.substr(star, path.size() - row.path.size() + 1);
}

std::optional<HttpResponse> refuse_caller(const Route& row, const HttpRequest& request) {
    if (row.callers.role == Role::None) {
        return std::nullopt;
    }
    if (request.role == Role::Tenant) {
        return refuse_tenant(request, row.callers.for_tenant, named_by(row, request.path));
    }
    return request.role < row.callers.role ? std::optional{lacks_role(request, row.callers.role)}
                                           : std::nullopt;
}

HttpResponse answer(const Route& row, const HttpRequest& request, Services& services) {
    if (std::optional<HttpResponse> refusal = refuse_caller(row, request)) {
        return *std::move(refusal);
    }
    if (request.body.size() > row.most) {
        return problem_response(
            413, "too large", fmt::format("the body of this call has at most {} bytes", row.most));
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
    if (request.role != Role::Tenant) {
        return row.resource(request, services);
    }
    if (row.callers.changes() && !services.tenant_paces.take(request.tenant)) {
        return busy_response(429, "busy",
                             fmt::format("{} has made many changes; one more may each {} s",
                                         request.tenant, TenantPaces::kEvery.count()));
    }
    HttpResponse response = row.resource(request, services);
    hide_generation(response);
    return response;
}

// The page of the dashboard, which is of no secret.
HttpResponse page_answer(const HttpRequest& request, const Services& services) {
    if (services.web != nullptr && request.way != Way::Api) {
        return answer_asset(request, web_assets());
    }
    return problem_response(
        404, "not found",
        fmt::format("there is no {}{}", visible_line(request.path),
                    services.web == nullptr ? ": the dashboard is off; `web:` in sluice.yaml turns "
                                              "it on"
                                            : ", and no dashboard by the token of the API"));
}

}  // namespace

HttpResponse lacks_role(const HttpRequest& request, Role needed) {
    const std::string_view by = request.way == Way::Unix && request.role == Role::View
                                    ? "this socket only shows; changes go to the one for operators"
                                : request.way == Way::Api ? "the API by TCP is read_only here"
                                : request.way == Way::Proxy
                                    ? "the proxy in front of the dashboard gives another one"
                                    : "another one is given on the box";
    return problem_response(
        403, "role",
        fmt::format("this needs the role {}, and {} has {}: {}", name_of(needed),
                    visible_line(request.user), name_of(request.role), by));
}

std::vector<RouteShape> route_shapes() {
    std::vector<RouteShape> shapes;
    for (const Route& row : kRoutes) {
        shapes.push_back(shape_of(row));
    }
    return shapes;
}

RouteShape route_shape(std::string_view method, std::string_view path) {
    const auto row = std::ranges::find_if(
        kRoutes, [&](const Route& one) { return one.method == method && one.path == path; });
    return row == kRoutes.end() ? RouteShape{method, path, Role::Admin, ForTenant::Refused}
                                : shape_of(*row);
}

void write_audit(Services& services, const HttpRequest& request, AuditEntry entry) {
    entry.who = request.peer;
    entry.source = request.source;
    if (request.via_web()) {
        entry.name = request.user;
        entry.tenant = request.tenant;
        entry.via = "web";
    }
    services.audit.write(entry);
}

HttpResponse route(const HttpRequest& request, Services& services) {
    if (!request.path.starts_with("/v1/")) {
        return page_answer(request, services);
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

HttpResponse no_such_tenant(std::string_view name) {
    return problem_response(404, "no such tenant",
                            "sluice.yaml has no tenant " + visible_line(name));
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
