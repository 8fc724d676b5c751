#pragma once
#include "lib/policy/yaml/map_reader.hpp"
#include "lib/rules/rule_set.hpp"

namespace sluice {

// What has no meaning beside a limit of open connections, each of which counts once while it is
// open.
void check_concurrency(const MapReader& map, const Rule& rule, const ReadContext& context);

}  // namespace sluice
