#pragma once
#include "control/daemon/api_counters.hpp"
#include "control/daemon/audit.hpp"
#include "control/daemon/entrance.hpp"
#include "control/daemon/refusal_pace.hpp"
#include "control/daemon/web/link_secrets.hpp"
#include "control/daemon/web/proxy_trust.hpp"
#include "control/daemon/web/reach.hpp"
#include "control/daemon/web/request_origin.hpp"
#include "control/daemon/web/sessions.hpp"
#include "control/daemon/web/token_keeper.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace sluice {

// Access to the dashboard: the sessions, the links, the named tokens and the trusted
// proxies, and what is asked of every request while there is a dashboard. Called from several
// threads.
class WebAccess {
public:
    // `audit` and `counters` outlive it.
    struct Setting {
        WebOptions options;
        std::vector<TrustedProxy> proxies;
        ApiSockets sockets;
        std::vector<std::string> tenants;  // that there are, by sluice.yaml
    };
    WebAccess(Setting setting, Audit& audit, ApiCounters& counters);

    using Judged = std::variant<Speaker, TurnedBack>;
    // A request by a Unix socket of the API: `speaker` as the socket makes them.
    [[nodiscard]] Judged judge_by_socket(const Visit& visit, Speaker speaker);
    // A request by the listener of the dashboard, from a user of this machine or by TCP.
    struct WebPeer {
        std::optional<uid_t> user{};
        std::optional<VersionedAddress> address{};
    };
    [[nodiscard]] Judged judge_by_web(const Visit& visit, const WebPeer& peer);
    // The class of a request that has begun to come by that listener; whoever is known by a session
    // or is named by a proxy is a user of their own.
    [[nodiscard]] std::optional<RequestClass> class_by_head(std::string_view bytes, Peer& peer);

    // A session for one who has shown the secret of a link, or a named token.
    struct Begun {
        std::string token;
        Session session;
    };
    // Errors: Refused, no such secret or token; Busy, no place.
    [[nodiscard]] Result<Begun> begin_by_link(std::string_view secret);
    [[nodiscard]] Result<Begun> begin_by_token(std::string_view token);
    [[nodiscard]] Result<std::string> make_link(LinkSecrets::Promise promise);
    [[nodiscard]] std::optional<Session> find_session(std::string_view token);
    void end_session(std::string_view token) { sessions_.end(token); }
    // True if sluice.yaml has a tenant of that name: nobody comes in for another one.
    [[nodiscard]] bool has_tenant(std::string_view name) const;

    // Counts a refusal; as many are answered, and recorded, as the pace lets.
    [[nodiscard]] TurnedBack refuse(HttpResponse response, const Speaker& speaker,
                                    const std::string& what);

    [[nodiscard]] const WebOptions& options() const noexcept { return options_; }
    [[nodiscard]] const ApiSockets& sockets() const noexcept { return sockets_; }
    [[nodiscard]] std::size_t session_count() { return sessions_.count(Sessions::Clock::now()); }
    [[nodiscard]] TokenKeeper& tokens() noexcept { return tokens_; }

private:
    // The fault of the head by which nobody can know what is meant, or for whom; nullopt: none.
    [[nodiscard]] std::optional<TurnedBack> fault_of_head(const Visit& visit,
                                                          const Speaker& speaker);
    [[nodiscard]] std::optional<TurnedBack> fault_of_page(const Visit& visit,
                                                          const Speaker& speaker);
    enum class MayProxy : bool { No, Yes };
    [[nodiscard]] Judged judge(const Visit& visit, Speaker speaker, MayProxy may_proxy);
    // Takes over whom the proxy names; what is wrong with that: nullopt if nothing is.
    [[nodiscard]] std::optional<TurnedBack> take_proxied(const Visit& visit, Speaker& speaker);
    [[nodiscard]] Result<Begun> begin(Session session);
    [[nodiscard]] static std::optional<RequestClass> class_of_role(RequestClass kind, Role role,
                                                                   std::string_view bytes);

    WebOptions options_;
    ApiSockets sockets_;
    std::vector<std::string> tenants_;
    ProxyTrust proxies_;
    OwnHosts hosts_;
    Audit& audit_;
    ApiCounters& counters_;
    Sessions sessions_;
    LinkSecrets links_;
    TokenKeeper tokens_;
    RefusalPace pace_;
};

// Requests that everybody may make of the dashboard: its page, which has no secret, and for a
// session.
[[nodiscard]] bool is_open_to_all(std::string_view method, std::string_view path) noexcept;

}  // namespace sluice
