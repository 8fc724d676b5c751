#pragma once
#include "lib/packet/tunnels.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace sluice {

// Adds a tunnel as `tunnels:` and command lines have it: its name, or for one over UDP its name and
// another port than the registered one, `vxlan:8472`. Otherwise the reason why not; nullopt: added.
[[nodiscard]] std::optional<std::string> add_tunnel(std::string_view text, Tunnels& tunnels);

// "gre, vxlan, ... and gtpu", for messages.
[[nodiscard]] std::string tunnel_names();

}  // namespace sluice
