#pragma once
#include "lib/policy/yaml/map_reader.hpp"
#include "lib/rules/management.hpp"

namespace sluice {

// `management` of sluice.yaml.
[[nodiscard]] ManagementOptions read_management(const YamlNode& node, const ReadContext& context);

}  // namespace sluice
