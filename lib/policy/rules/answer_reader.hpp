#pragma once
#include "lib/policy/rules/action_reader.hpp"
#include "lib/policy/yaml/map_reader.hpp"

namespace sluice {

// What stands beside `action: reply`, `decoy` or `dns_truncate`. The response of `reply` names no
// policy yet: that is its rule's affair.
void read_reply(const MapReader& map, ActionText& action);
void read_decoy(const MapReader& map, ActionText& action);
void read_dns_truncate(const MapReader& map, ActionText& action);

}  // namespace sluice
