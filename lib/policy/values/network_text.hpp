#pragma once
#include "lib/base/result.hpp"
#include "lib/packet/ip_address.hpp"

#include <string_view>

namespace sluice {

// `192.0.2.1` or `192.0.2.0/24`, of either version. OutOfRange: host bits are set, and the message
// names the network that was meant. BadSyntax: it is something else.
[[nodiscard]] Result<IpPrefix> parse_network(std::string_view text);

}  // namespace sluice
