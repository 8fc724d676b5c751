#pragma once
#include "lib/policy/rules/action_reader.hpp"
#include "lib/policy/yaml/map_reader.hpp"

#include <string_view>

namespace sluice {

// The `body` of `reply` that is its default.
inline constexpr std::string_view kProblemDetails = "problem+json";

// Keys beside `action: reply`, `decoy` or `dns_truncate`. The response of `reply` names no policy
// yet: that is its rule's affair.
void read_reply(const MapReader& map, ActionText& action);
void read_decoy(const MapReader& map, ActionText& action);
void read_dns_truncate(const MapReader& map, ActionText& action);

// The rule of a response, which is its policy, and what the rule counts.
struct ResponseRule {
    std::string_view id;
    const YamlNode* per;  // nullptr: the default
};
// `action` has a response. What it cannot say is an error.
void complete_response(ActionText& action, const ResponseRule& rule, Problems& problems);

}  // namespace sluice
