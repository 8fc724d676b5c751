#include "lib/match/geo_parts.hpp"

#include <algorithm>

namespace sluice {
namespace {

template <typename Key>
bool steps_hold(const std::vector<Step<Key>>& steps, std::size_t most, std::size_t origins) {
    constexpr bool kWide = sizeof(Key) > sizeof(std::uint64_t);
    if (steps.empty() || steps.front().first != 0 || steps.size() > most) {
        return false;
    }
    const bool fits = kWide || (steps.back().first >> 32) == 0;
    const bool sorted =
        std::adjacent_find(steps.begin(), steps.end(), [](const auto& a, const auto& b) {
            return a.first >= b.first;
        }) == steps.end();
    return fits && sorted && std::all_of(steps.begin(), steps.end(), [&](const auto& step) {
               return step.row < origins;
           });
}

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
           steps_hold(parts.steps, kMaxOriginSteps, parts.origins.size()) &&
           steps_hold(parts.v6_steps, kMaxWideOriginSteps, parts.origins.size());
}

}  // namespace sluice
