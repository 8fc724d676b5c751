#pragma once
#include "lib/policy/yaml/map_reader.hpp"

#include <optional>

namespace sluice {

// `ttl` of a rule, for the process that keeps the rules: a rule itself does not change with time.
[[nodiscard]] std::optional<Nanoseconds> read_ttl(const MapReader& map, const ReadContext& context);

}  // namespace sluice
