#pragma once
#include "lib/policy/compile.hpp"
#include "lib/policy/services/protocol_set.hpp"

#include <string>
#include <vector>

namespace sluice {

// A service that rules of a file imply: they read its protocol where this condition holds.
struct ImpliedService {
    std::string id;
    ServiceProtocol protocol = ServiceProtocol::Http;
    std::string when;
    std::vector<std::string> rules;  // by id
    bool is_at_tls = false;          // clients speak its protocol inside of TLS there

    [[nodiscard]] bool operator==(const ImpliedService&) const = default;
};

struct ImpliedServices {
    std::vector<ImpliedService> services;
    // Rules that imply none: no address and no port of a server is in their condition.
    std::vector<std::string> without_place;
};

// Services that rules imply which are on, over a later layer, and not over declared services alone.
// A condition becomes the part of it that names where servers are (places_in); what tests anything
// else is left out, so that a service holds more than the rule, never less.
[[nodiscard]] ImpliedServices implied_services(const CompiledRules& compiled);

// A block `services:` of a rule file, each in monitor.
[[nodiscard]] std::string yaml_of(const ImpliedServices& implied);

// One of the alternatives of a condition: the part that tests none but direction, pair, tags,
// version, destination and its port, and the protocols whose fields the alternative tests.
struct ServerPlace {
    std::string when;  // empty: no server is named
    ProtocolSet protocols;
};
[[nodiscard]] std::vector<ServerPlace> places_in(const std::string& when, const TextNames& names);

}  // namespace sluice
