#pragma once
#include "lib/policy/yaml/map_reader.hpp"
#include "lib/rules/box_config.hpp"

#include <optional>

namespace sluice {

// `api: {listen: "127.0.0.1:8480", token_file: token}`; nullopt: something of it is wrong, and was
// reported.
[[nodiscard]] std::optional<ApiOptions> read_api(const YamlNode& node, const ReadContext& context);

}  // namespace sluice
