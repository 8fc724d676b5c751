#pragma once
#include "lib/policy/box/box.hpp"
#include "lib/policy/yaml/map_reader.hpp"

#include <vector>

namespace sluice {

// `ports` of sluice.yaml: pairs, each with a name and two devices of its own.
[[nodiscard]] std::vector<BoxPair> read_port_pairs(const YamlNode& ports,
                                                   const ReadContext& context);

}  // namespace sluice
