#pragma once
#include "lib/policy/yaml/map_reader.hpp"
#include "lib/rules/box_config.hpp"

#include <vector>

namespace sluice {

// `ports` of sluice.yaml: pairs, each with a name and two devices of its own.
[[nodiscard]] std::vector<PairConfig> read_port_pairs(const YamlNode& ports,
                                                      const ReadContext& context);

}  // namespace sluice
