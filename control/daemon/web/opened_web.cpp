#include "control/daemon/web/opened_web.hpp"

#include "control/daemon/tcp_listener.hpp"

#include <spdlog/spdlog.h>

#include <string>
#include <utility>
#include <vector>

namespace sluice {

Result<std::optional<OpenedWeb>> open_web(const Settings& settings) {
    if (!settings.web) {
        return std::optional<OpenedWeb>{};
    }
    Result<std::vector<TrustedProxy>> proxies = open_proxies(*settings.web);
    if (!proxies) {
        return proxies.error();
    }
    OpenedWeb opened{{}, *std::move(proxies)};
    if (settings.web->path.empty()) {
        Result<Fd> listener = listen_tcp(
            {.address = settings.web->address, .port = settings.web->port, .token_file = {}},
            "the dashboard");
        if (!listener) {
            return listener.error();
        }
        opened.listener = *std::move(listener);
    }
    return std::optional<OpenedWeb>{std::move(opened)};
}

namespace {

std::vector<std::string> names_of_tenants(const Settings& settings) {
    std::vector<std::string> names;
    for (const TenantOptions& tenant : settings.tenants) {
        names.push_back(tenant.name);
    }
    return names;
}

}  // namespace

SocketOptions web_socket_of(const WebOptions& web) {
    return {.path = web.path, .mode = 0666, .owner = {}, .group = {}};
}

std::unique_ptr<WebAccess> make_web_access(const Settings& settings,
                                           std::optional<OpenedWeb>& opened, Audit& audit,
                                           ApiCounters& counters) {
    if (!opened) {
        return nullptr;
    }
    const ApiSockets sockets{settings.control, read_socket_of(settings)};
    for (const std::string& line : reach_of_web(*settings.web, sockets)) {
        spdlog::info("the dashboard can be reached by {}", line);
    }
    auto web =
        std::make_unique<WebAccess>(WebAccess::Setting{*settings.web, std::move(opened->proxies),
                                                       sockets, names_of_tenants(settings)},
                                    audit, counters);
    (void)web->tokens().problem();  // told to the log now, and not only when somebody comes
    return web;
}

}  // namespace sluice
