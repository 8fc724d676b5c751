#include "control/daemon/web/reach.hpp"

#include "control/daemon/tcp_listener.hpp"

#include <fmt/format.h>

namespace sluice {
namespace {

std::string members_text(const SocketOptions& socket) {
    return socket.group.empty()
               ? fmt::format("whoever may open {}", socket.path)
               : fmt::format("members of the group {}, by {}", socket.group, socket.path);
}

std::string reachers_text(const WebOptions& web) {
    if (!web.path.empty()) {
        return fmt::format("whoever is on this machine, at {}", web.path);
    }
    return is_loopback(web.address)
               ? fmt::format("whoever is on this machine, at {}", place_of_web(web))
               : fmt::format("the proxies of `behind_proxy` and whoever is on this machine, at {}",
                             place_of_web(web));
}

std::string known_by(const WebProxy& proxy, const WebOptions& web) {
    return proxy.address ? fmt::format("{} with its secret in {}",
                                       to_text(proxy.address->version, proxy.address->address),
                                       proxy.secret_header)
                         : fmt::format("the user {} at {}", proxy.user, web.path);
}

}  // namespace

std::string place_of_web(const WebOptions& web) {
    return web.path.empty()
               ? endpoint_text({.address = web.address, .port = web.port, .token_file = {}})
               : web.path;
}

std::vector<std::string> reach_of_web(const WebOptions& web, const ApiSockets& sockets) {
    std::vector<std::string> lines{fmt::format(
        "{}: with a link of `sluicectl dashboard`{}; without one, nothing but the empty page",
        reachers_text(web),
        web.tokens_file.empty() ? "" : " or a named token of " + web.tokens_file)};
    for (const WebProxy& proxy : web.behind_proxy) {
        lines.push_back(
            fmt::format("whom the proxy {} names in {}: with the role in {}, view "
                        "without it",
                        known_by(proxy, web), web.user_header, web.role_header));
    }
    lines.push_back(members_text(sockets.control) + ": admin");
    lines.push_back(members_text(sockets.read_only) + ": view");
    return lines;
}

std::string link_of_web(const WebOptions& web, const std::string& secret) {
    if (!web.behind_proxy.empty() && !web.hosts.empty()) {
        return fmt::format("https://{}/#secret={}", web.hosts.front(), secret);
    }
    if (!web.path.empty()) {
        return "";
    }
    WebOptions here = web;
    const bool is_any = web.address.address == IpAddress{};
    if (is_any) {
        here.address = *parse_address(web.address.version == IpVersion::V4 ? "127.0.0.1" : "::1");
    }
    return fmt::format("http://{}/#secret={}", place_of_web(here), secret);
}

}  // namespace sluice
