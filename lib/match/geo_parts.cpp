#include "lib/match/geo_parts.hpp"

#include "lib/match/sound_steps.hpp"

#include <algorithm>

namespace sluice {
namespace {

bool asks_databases_alone(FieldSet asked) {
    if (asked == FieldSet{}) {
        return false;
    }
    for (const FieldRow& row : kFields) {
        if (asked.has(row.field) && !is_from_database(row.field)) {
            return false;
        }
    }
    return true;
}

}  // namespace

bool are_sound(const GeoParts& parts) {
    return asks_databases_alone(parts.asked) && parts.origins.size() <= kMaxOrigins &&
           std::all_of(parts.origins.begin(), parts.origins.end(),
                       [](const GeoOrigin& origin) { return origin.country <= kMaxCountry; }) &&
           are_sound(parts.steps, {kV4Bits, kMaxOriginSteps, parts.origins.size()}) &&
           are_sound(parts.v6_steps, {kV6Bits, kMaxWideOriginSteps, parts.origins.size()});
}

}  // namespace sluice
