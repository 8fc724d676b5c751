#pragma once
#include "lib/policy/yaml/map_reader.hpp"
#include "lib/rules/edge_event.hpp"

#include <string>

namespace sluice {

// `events` of a rule: a list of words. Without it nothing is reported; of a candidate nothing ever
// is, since it refuses nobody.
[[nodiscard]] EdgeEventSet read_events(const MapReader& rule, const ReadContext& context);

// The events as people read them: "limit_start, ban", "none".
[[nodiscard]] std::string text_of(EdgeEventSet events);

}  // namespace sluice
