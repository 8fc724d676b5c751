#include "control/daemon/api/api.hpp"
#include "control/daemon/api/change.hpp"
#include "control/daemon/api/json_body.hpp"
#include "control/daemon/api/known_members.hpp"
#include "control/daemon/api/verbs.hpp"
#include "control/daemon/web/reach.hpp"
#include "control/daemon/web/web_access.hpp"
#include "lib/base/system_user.hpp"
#include "lib/policy/values/units_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include <unistd.h>

namespace sluice {
namespace {

constexpr std::chrono::minutes kShortestSession{1};

HttpResponse is_off() {
    return problem_response(404, "not found",
                            "the dashboard is off; `web:` in sluice.yaml turns it on");
}

std::string box_name() {
    std::array<char, 256> name{};
    (void)::gethostname(name.data(), name.size() - 1);
    return name.data();
}

// The clocks of the box: how far they are before UTC now, and the zone where the system names one.
Json zone_json() {
    const std::time_t now = std::time(nullptr);
    std::tm local{};
    ::localtime_r(&now, &local);
    std::error_code missing;
    const std::string file =
        std::filesystem::read_symlink("/etc/localtime", missing).lexically_normal().string();
    constexpr std::string_view kFolder = "zoneinfo/";
    const std::size_t at = file.find(kFolder);
    const bool is_named = std::getenv("TZ") == nullptr && at != std::string::npos;
    return {{"name", is_named ? Json(file.substr(at + kFolder.size())) : Json()},
            {"offset_s", local.tm_gmtoff}};
}

// null: an operator.
Json tenant_json(const std::string& tenant) {
    return tenant.empty() ? Json() : Json(tenant);
}

bool may_call(const HttpRequest& request, const Verb& verb) {
    if (request.role != Role::Tenant) {
        const bool by_socket_alone = verb.name == "link" && request.way != Way::Unix;
        return request.role >= route_shape(verb.method, verb.path).role && !by_socket_alone;
    }
    const std::string_view path = verb.tenant_path.empty() ? verb.path : verb.tenant_path;
    return route_shape(verb.method, path).for_tenant != ForTenant::Refused;
}

// `expires` and `expires_in_s`.
void add_end(Json& document, Sessions::Clock::time_point end) {
    const std::int64_t left =
        std::chrono::duration_cast<std::chrono::seconds>(end - Sessions::Clock::now()).count();
    document["expires"] = utc_text(std::time(nullptr) + left);
    document["expires_in_s"] = left;
}

HttpResponse refused_session(const Error& error, const HttpRequest& request, Services& services) {
    if (error.code != Errc::Refused) {
        return busy_response(503, "busy", error.what);
    }
    const Speaker speaker{.peer = request.peer, .source = request.source};
    TurnedBack back = services.web->refuse(problem_response(401, "no session", error.what), speaker,
                                           "a wrong secret or token");
    back.response.is_silent = !back.is_answered;
    return std::move(back.response);
}

// A request for a link; or what is wrong with it.
std::variant<LinkSecrets::Promise, HttpResponse> promise_of(const HttpRequest& request,
                                                            const WebAccess& web) {
    const std::variant<Json, HttpResponse> parsed =
        request.body.empty() ? Json::object() : parse_body(request);
    if (const auto* refusal = std::get_if<HttpResponse>(&parsed)) {
        return *refusal;
    }
    const Json& body = std::get<Json>(parsed);
    const auto is_text = [&](const char* name) {
        return !body.contains(name) || body[name].is_string();
    };
    if (!body.is_object() || !is_text("role") || !is_text("for")) {
        return bad_request(R"(the body is {"role":"view","for":"12h"}, or some of it)");
    }
    if (auto refusal = refuse_unknown(body, {"role", "for"})) {
        return *std::move(refusal);
    }
    const std::optional<AssignedRole> assigned = read_assigned_role(body.value("role", "view"));
    if (!assigned) {
        return problem_response(422, "no such role", fmt::format("a role is {}", kRolesThereAre));
    }
    if (assigned->role == Role::Tenant && !web.has_tenant(assigned->tenant)) {
        return problem_response(
            422, "no such tenant",
            fmt::format("sluice.yaml has no tenant {} under `tenants:`", assigned->tenant));
    }
    const Result<Nanoseconds> lasts = parse_duration(body.value("for", "12h"));
    if (!lasts || *lasts < kShortestSession || *lasts > Sessions::kLongest) {
        return problem_response(422, "no such time", "a session lasts from 1m to 12h");
    }
    const std::optional<SystemUser> user = user_of(request.peer.uid);
    const bool is_of_tenant = assigned->role == Role::Tenant;
    return LinkSecrets::Promise{.user = user ? user->name : request.user,
                                .role = assigned->role,
                                .lasts = std::chrono::duration_cast<std::chrono::seconds>(*lasts),
                                .tenant = assigned->tenant,
                                .made_by = is_of_tenant ? kNobody : request.peer.uid};
}

}  // namespace

HttpResponse post_session(const HttpRequest& request, Services& services) {
    if (services.web == nullptr) {
        return is_off();
    }
    const std::variant<Json, HttpResponse> parsed = parse_body(request);
    if (const auto* refusal = std::get_if<HttpResponse>(&parsed)) {
        return *refusal;
    }
    const Json& body = std::get<Json>(parsed);
    const auto has = [&](const char* name) {
        return body.is_object() && body.size() == 1 && body.contains(name) &&
               body[name].is_string();
    };
    if (!has("secret") && !has("token")) {
        return bad_request(R"(the body is {"secret":…} of a link, or {"token":…} that has a name)");
    }
    const Result<WebAccess::Begun> begun =
        has("secret") ? services.web->begin_by_link(body["secret"].get<std::string>())
                      : services.web->begin_by_token(body["token"].get<std::string>());
    if (!begun) {
        return refused_session(begun.error(), request, services);
    }
    HttpRequest by = request;
    by.user = begun->session.user;
    by.way = Way::Session;
    write_audit(services, by,
                {.call = has("secret") ? "session by link" : "session by token",
                 .before = "",
                 .after = text_of({begun->session.role, begun->session.tenant}),
                 .outcome = "done"});
    Json answer{{"session", begun->token},
                {"user", begun->session.user},
                {"role", name_of(begun->session.role)},
                {"tenant", tenant_json(begun->session.tenant)}};
    add_end(answer, begun->session.end);
    HttpResponse response = json_response(answer);
    response.status = 201;
    return response;
}

HttpResponse get_session(const HttpRequest& request, Services& services) {
    Json verbs = Json::object();
    Json needs = Json::object();
    for (const Verb& verb : kVerbs) {
        const std::string name{verb.name};
        verbs[name] = may_call(request, verb);
        needs[name] = name_of(route_shape(verb.method, verb.path).role);
    }
    verbs[std::string{kAnyModeVerb}] = request.role >= kAnyModeRole;
    needs[std::string{kAnyModeVerb}] = name_of(kAnyModeRole);
    Json answer{{"user", request.user},
                {"role", name_of(request.role)},
                {"tenant", tenant_json(request.tenant)},
                {"via", name_of(request.way)},
                {"box", request.role == Role::Tenant ? Json() : Json(box_name())},
                {"expires", nullptr},
                {"expires_in_s", nullptr},
                {"zone", zone_json()}};
    const std::optional<Session> session =
        services.web == nullptr ? std::nullopt : services.web->find_session(request.session);
    if (session) {
        add_end(answer, session->end);
    }
    answer["verbs"] = std::move(verbs);
    answer["needs"] = std::move(needs);
    return json_response(answer);
}

HttpResponse delete_session(const HttpRequest& request, Services& services) {
    if (services.web == nullptr || request.session.empty()) {
        return problem_response(404, "no session",
                                "this role comes with the way in, and there is no session to end");
    }
    services.web->end_session(request.session);
    write_audit(services, request,
                {.call = "session end", .before = "", .after = "", .outcome = "done"});
    return json_response({{"ended", true}});
}

HttpResponse post_session_link(const HttpRequest& request, Services& services) {
    if (services.web == nullptr) {
        return is_off();
    }
    if (request.way != Way::Unix) {
        return problem_response(403, "role",
                                "links are made by the socket of operators alone, on the box");
    }
    auto read = promise_of(request, *services.web);
    if (auto* refusal = std::get_if<HttpResponse>(&read)) {
        return std::move(*refusal);
    }
    const LinkSecrets::Promise& promise = std::get<LinkSecrets::Promise>(read);
    const Result<std::string> secret = services.web->make_link(promise);
    if (!secret) {
        return busy_response(503, "busy", secret.error().what);
    }
    write_audit(services, request,
                {.call = "session link",
                 .before = "",
                 .after = fmt::format("{} for {}s", text_of({promise.role, promise.tenant}),
                                      promise.lasts.count()),
                 .outcome = "done"});
    const std::string url = link_of_web(services.web->options(), *secret);
    // The socket that shows the box shows all of it: no way in for a tenant's people.
    const bool is_of_tenant = promise.role == Role::Tenant;
    Json answer{{"secret", *secret},
                {"role", name_of(promise.role)},
                {"tenant", tenant_json(promise.tenant)},
                {"session_s", promise.lasts.count()},
                {"url", url.empty() ? Json() : Json(url)},
                {"forward", is_of_tenant ? Json() : Json(services.web->sockets().read_only.path)},
                {"box", box_name()}};
    add_end(answer, Sessions::Clock::now() + LinkSecrets::kLife);
    HttpResponse response = json_response(answer);
    response.status = 201;
    return response;
}

}  // namespace sluice
