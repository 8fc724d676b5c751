#include "control/daemon/web/web_access.hpp"

#include "control/daemon/nobody.hpp"
#include "control/random_secret.hpp"
#include "control/visible_text.hpp"
#include "lib/packet/ip_address.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <ctime>
#include <functional>
#include <utility>

namespace sluice {
namespace {

constexpr std::size_t kShownOfHeader = 120;
constexpr std::string_view kBearer = "bearer ";

// The token of an Authorization header; empty: it has none.
std::string_view bearer_in(std::string_view authorization) {
    const auto is_letter = [](char a, char b) {
        return a == (b >= 'A' && b <= 'Z' ? static_cast<char>(b - 'A' + 'a') : b);
    };
    if (authorization.size() < kBearer.size() ||
        !std::ranges::equal(kBearer, authorization.substr(0, kBearer.size()), is_letter)) {
        return {};
    }
    return authorization.substr(kBearer.size());
}

// A header of its own, since behind a proxy that asks for a password the other is the proxy's.
constexpr std::string_view kSessionHeader = "x-sluice-session";

std::string_view session_in(const RequestHeaders& headers) {
    const std::string_view own = headers.value(kSessionHeader);
    return own.empty() ? bearer_in(headers.value("authorization")) : own;
}

bool is_of_api(std::string_view path) {
    return path.starts_with("/v1/");
}

bool only_reads(std::string_view method) {
    return method == "GET" || method == "HEAD";
}

std::string shown(std::string_view text) {
    return visible_line(text.substr(0, kShownOfHeader));
}

// A number for bounds that are a person's.
uid_t number_of_person(std::string_view kind, std::string_view name) {
    return static_cast<uid_t>(
        std::hash<std::string>{}(std::string{kind} + ":" + std::string{name}));
}

HttpResponse no_session() {
    return problem_response(401, "no session",
                            "begin one by a link that `sluicectl dashboard` prints on the box, or "
                            "by a named token");
}

HttpResponse foreign_host(const std::string& host) {
    return problem_response(
        403, "host",
        fmt::format("the dashboard is not called `{}`; if it is, `web:` of sluice.yaml has a line "
                    "hosts: [{}]",
                    host, host));
}

HttpResponse unknown_tenant(const std::string& name) {
    return problem_response(
        403, "tenant",
        fmt::format("sluice.yaml has no tenant `{}`; one comes in by a line under `tenants:`",
                    name));
}

Sessions::Clock::time_point in_time(std::chrono::seconds lasts) {
    return Sessions::Clock::now() + std::min<std::chrono::seconds>(lasts, Sessions::kLongest);
}

}  // namespace

bool is_open_to_all(std::string_view method, std::string_view path) noexcept {
    return !is_of_api(path) || (method == "POST" && path == "/v1/session");
}

WebAccess::WebAccess(Setting setting, Audit& audit, ApiCounters& counters)
    : options_{std::move(setting.options)},
      sockets_{std::move(setting.sockets)},
      tenants_{std::move(setting.tenants)},
      proxies_{options_, std::move(setting.proxies)},
      audit_{audit},
      counters_{counters},
      tokens_{options_.tokens_file} {
    for (const std::string& host : options_.hosts) {
        hosts_.add(host);
    }
    const IpAddress any{};
    if (options_.path.empty() && options_.address.address != any) {
        hosts_.add(to_text(options_.address.version, options_.address.address));
    }
}

TurnedBack WebAccess::refuse(HttpResponse response, const Speaker& speaker,
                             const std::string& what) {
    (void)counters_.count(TurnedAway::Web);
    const auto now = RefusalPace::Clock::now();
    TurnedBack refusal{std::move(response), pace_.answers(now), true};
    if (refusal.is_answered && pace_.records(now)) {
        audit_.write({.who = speaker.peer,
                      .source = speaker.source,
                      .via = "web",
                      .call = "dashboard",
                      .before = "",
                      .after = "",
                      .outcome = "refused: " + what});
        spdlog::warn("refused {} at the dashboard: {}; of many such lines few are written",
                     speaker.source.empty() ? "a client" : speaker.source, what);
    }
    return refusal;
}

std::optional<TurnedBack> WebAccess::fault_of_head(const Visit& visit, const Speaker& speaker) {
    const auto bad = [&](const std::string& what) {
        return refuse(problem_response(400, "bad request", what), speaker, what);
    };
    if (visit.headers.is_folded()) {
        return bad("a header of the request goes on in another line");
    }
    if (const std::string_view name = proxies_.repeated_in(visit.headers); !name.empty()) {
        return bad(fmt::format("the request has the header {} twice", name));
    }
    const std::string_view said = visit.headers.value("host");
    const std::optional<std::string> host = host_in(said);
    if (!host || !hosts_.has(*host)) {
        const std::string name = host ? *host : shown(said);
        return refuse(foreign_host(name), speaker, "called `" + name + "`");
    }
    return std::nullopt;
}

// Authority that comes without being asked for, by a socket or a proxy, is lent to no other page.
std::optional<TurnedBack> WebAccess::fault_of_page(const Visit& visit, const Speaker& speaker) {
    if (!is_of_api(visit.path)) {
        return std::nullopt;
    }
    const AskingPage page = asking_page(visit.headers);
    if (page == AskingPage::Other) {
        const std::string_view origin = visit.headers.value("origin");
        return refuse(foreign_page(), speaker, "asked by the page of `" + shown(origin) + "`");
    }
    const bool is_browser = page == AskingPage::Own || speaker.way == Way::Proxy;
    if (is_browser && !only_reads(visit.method) && visit.method != "DELETE" &&
        !is_own_content_type(visit.headers.value("content-type"))) {
        return refuse(problem_response(415, "content type",
                                       "Content-Type is application/json, or application/yaml of "
                                       "rules: a form of another page could be sent otherwise"),
                      speaker, "of another content type");
    }
    return std::nullopt;
}

std::optional<TurnedBack> WebAccess::take_proxied(const Visit& visit, Speaker& speaker) {
    Result<ProxyTrust::User> user = proxies_.user_of(visit.headers);
    if (!user) {
        return refuse(problem_response(400, "bad request", user.error().what), speaker,
                      user.error().what);
    }
    if (user->name.empty()) {
        return std::nullopt;
    }
    AssignedRole& assigned = user->assigned;
    if (assigned.role == Role::Tenant && !has_tenant(assigned.tenant)) {
        return refuse(unknown_tenant(assigned.tenant), speaker,
                      "of the tenant `" + assigned.tenant + "`, which there is not");
    }
    speaker.role = assigned.role;
    speaker.tenant = std::move(assigned.tenant);
    speaker.way = Way::Proxy;
    speaker.user = std::move(user->name);
    return std::nullopt;
}

WebAccess::Judged WebAccess::judge(const Visit& visit, Speaker speaker, MayProxy may_proxy) {
    if (auto fault = fault_of_head(visit, speaker)) {
        return *std::move(fault);
    }
    const std::string_view token = session_in(visit.headers);
    if (const std::optional<Session> session = find_session(token)) {
        speaker.role = session->role;
        speaker.way = Way::Session;
        speaker.user = session->user;
        speaker.session = token;
        speaker.tenant = session->tenant;
        speaker.reads_as = session->made_by;
        return speaker;
    }
    if (may_proxy == MayProxy::Yes) {
        if (auto fault = take_proxied(visit, speaker)) {
            return *std::move(fault);
        }
    }
    const bool says_other = !token.empty() && speaker.way != Way::Proxy;
    if ((speaker.role == Role::None || says_other) && !is_open_to_all(visit.method, visit.path)) {
        return refuse(no_session(), speaker, token.empty() ? "no authority" : "not a session");
    }
    if (auto fault = fault_of_page(visit, speaker)) {
        return *std::move(fault);
    }
    return speaker;
}

// A socket of the API shows the whole box to whoever may open it: no way in for a tenant's people,
// who would have more without their session than with it.
WebAccess::Judged WebAccess::judge_by_socket(const Visit& visit, Speaker speaker) {
    Judged judged = judge(visit, std::move(speaker), MayProxy::No);
    const auto* const known = std::get_if<Speaker>(&judged);
    if (known != nullptr && known->role == Role::Tenant) {
        return refuse(problem_response(403, "tenant",
                                       "tenants come in by the address that `web:` of sluice.yaml "
                                       "listens on, and not by a socket of the API"),
                      *known, "of the tenant `" + known->tenant + "`, by a socket of the API");
    }
    return judged;
}

WebAccess::Judged WebAccess::judge_by_web(const Visit& visit, const WebPeer& peer) {
    Speaker speaker{.peer = {.uid = kNobody, .gid = kNobody, .pid = 0}, .way = Way::Session};
    if (peer.address) {
        speaker.source = to_text(peer.address->version, peer.address->address);
    }
    if (peer.address && !is_loopback(*peer.address) && !is_loopback(options_.address) &&
        !proxies_.knows(peer.user, peer.address)) {
        return refuse(problem_response(403, "proxy",
                                       "only the proxies that `behind_proxy` names come to this "
                                       "address from elsewhere"),
                      speaker, "no proxy of `behind_proxy`");
    }
    const bool is_proxy = proxies_.is_proxy(peer.user, peer.address, visit.headers);
    return judge(visit, std::move(speaker), is_proxy ? MayProxy::Yes : MayProxy::No);
}

std::optional<RequestClass> WebAccess::class_by_head(std::string_view bytes, Peer& peer) {
    const std::optional<RequestClass> kind = class_of(bytes);
    if (!kind) {
        return std::nullopt;
    }
    const RequestHeaders headers = headers_in(bytes);
    if (const auto session = find_session(session_in(headers))) {
        const bool is_of_tenant = session->role == Role::Tenant;
        peer.uid = is_of_tenant ? number_of_person("tenant", session->tenant)
                                : number_of_person("session", session->user);
        return class_of_role(*kind, session->role, bytes);
    }
    const std::string_view name = headers.value(proxies_.user_header());
    const bool is_socket = !options_.path.empty();
    if (name.empty() ||
        !(is_socket ? proxies_.knows(peer.uid, std::nullopt) : proxies_.has_secret(headers))) {
        // Strangers are one user to the places: a slow one holds none of them.
        return is_answerable(bytes, kMostOfStrangers) ? std::optional{RequestClass::Stranger}
                                                      : std::nullopt;
    }
    const auto user = proxies_.user_of(headers);
    const bool is_of_tenant = user && user->assigned.role == Role::Tenant;
    peer.uid = is_of_tenant ? number_of_person("tenant", user->assigned.tenant)
                            : number_of_person("proxy", name);
    return class_of_role(*kind, user ? user->assigned.role : Role::None, bytes);
}

// A viewer's body that is small is waited for before it has a place, as strangers' are.
std::optional<RequestClass> WebAccess::class_of_role(RequestClass kind, Role role,
                                                     std::string_view bytes) {
    if (role == Role::Tenant) {
        return tenant_class(kind);
    }
    if (role != Role::View) {
        return kind;
    }
    const RequestClass found = viewer_class(kind);
    return found != RequestClass::Viewer || is_answerable(bytes, kMostOfStrangers)
               ? std::optional{found}
               : std::nullopt;
}

Result<WebAccess::Begun> WebAccess::begin(Session session) {
    Result<std::string> token = sessions_.begin(session, Sessions::Clock::now());
    if (!token) {
        return token.error();
    }
    return Begun{*std::move(token), std::move(session)};
}

Result<WebAccess::Begun> WebAccess::begin_by_link(std::string_view secret) {
    const auto promise = links_.take(secret, LinkSecrets::Clock::now());
    if (!promise) {
        return Error{Errc::Refused,
                     "the link was used, or is older than five minutes; `sluicectl dashboard` "
                     "prints another one"};
    }
    Result<Begun> begun = begin({.user = promise->user,
                                 .role = promise->role,
                                 .end = in_time(promise->lasts),
                                 .tenant = promise->tenant,
                                 .token = {},
                                 .made_by = promise->made_by});
    if (!begun) {
        links_.put_back(secret, *promise);
    }
    return begun;
}

Result<WebAccess::Begun> WebAccess::begin_by_token(std::string_view token) {
    const std::int64_t utc = std::time(nullptr);
    const std::optional<NamedToken> named = tokens_.find(digest_of(token), utc);
    if (!named) {
        return Error{Errc::Refused, "there is no such token, or its time is over"};
    }
    if (named->role == Role::Tenant && !has_tenant(named->tenant)) {
        return Error{Errc::Refused, "the tenant " + named->tenant +
                                        " of this token is not in sluice.yaml any more"};
    }
    const std::chrono::seconds lasts = named->end == 0 ? std::chrono::seconds{Sessions::kLongest}
                                                       : std::chrono::seconds{named->end - utc};
    return begin({.user = named->name,
                  .role = named->role,
                  .end = in_time(lasts),
                  .tenant = named->tenant,
                  .token = named->digest});
}

Result<std::string> WebAccess::make_link(LinkSecrets::Promise promise) {
    return links_.make(std::move(promise), LinkSecrets::Clock::now());
}

bool WebAccess::has_tenant(std::string_view name) const {
    return std::ranges::find(tenants_, name) != tenants_.end();
}

// A session by a named token has the role that its file gives it now, and ends with it.
std::optional<Session> WebAccess::find_session(std::string_view token) {
    if (token.empty()) {
        return std::nullopt;
    }
    std::optional<Session> session = sessions_.find(token, Sessions::Clock::now());
    if (session && session->token) {
        const std::optional<NamedToken> named = tokens_.find(*session->token, std::time(nullptr));
        if (!named) {  // a file that is written at this moment has its line again soon
            return std::nullopt;
        }
        session->role = named->role;
        session->tenant = named->tenant;
    }
    const bool is_lost = session && session->role == Role::Tenant && !has_tenant(session->tenant);
    return is_lost ? std::nullopt : session;
}

}  // namespace sluice
