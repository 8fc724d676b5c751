#pragma once
#include "lib/rules/box_config.hpp"

#include <string>
#include <vector>

namespace sluice {

// The sockets of the API, by which the dashboard is reached too.
struct ApiSockets {
    SocketOptions control;
    SocketOptions read_only;
};

// The place of the dashboard for people: `127.0.0.1:8480`, or a path.
[[nodiscard]] std::string place_of_web(const WebOptions& web);

// The ways in to the dashboard: for each a sentence of who can come by it, and as what.
[[nodiscard]] std::vector<std::string> reach_of_web(const WebOptions& web,
                                                    const ApiSockets& sockets);

// The address to begin a session at by that secret, from this machine or by the proxy in front;
// empty: there is none but by a forwarded socket.
[[nodiscard]] std::string link_of_web(const WebOptions& web, const std::string& secret);

}  // namespace sluice
