#pragma once
#include "lib/policy/yaml/map_reader.hpp"
#include "lib/rules/box_config.hpp"

#include <optional>
#include <vector>

// Parts of sluice.yaml that are read in files of their own.
namespace sluice {

// `ports` of sluice.yaml: pairs, each with a name and two devices of its own.
[[nodiscard]] std::vector<PairConfig> read_port_pairs(const YamlNode& ports,
                                                      const ReadContext& context);

// `api: {listen: "127.0.0.1:8480", token_file: token}`; nullopt: something of it is wrong, and was
// reported.
[[nodiscard]] std::optional<ApiOptions> read_api(const YamlNode& node, const ReadContext& context);

// `management` of sluice.yaml.
[[nodiscard]] ManagementOptions read_management(const YamlNode& node, const ReadContext& context);

// `connections`, `fragments`, `http` and `quic_initials` of `packets` in sluice.yaml; what is not
// there stays.
void read_unit_options(const MapReader& packets, const ReadContext& context, UnitOptions& into);

}  // namespace sluice
