#pragma once
#include "lib/policy/compile.hpp"
#include "lib/policy/yaml/map_reader.hpp"

#include <optional>

namespace sluice {

// `active` of a rule: days and hours by the clocks of a zone. nullopt: there is none, or it is
// wrong, which is reported at its place.
[[nodiscard]] std::optional<ActiveTimes> read_active(const MapReader& rule,
                                                     const ReadContext& context);

}  // namespace sluice
