#pragma once
#include "lib/base/kept_zone.hpp"
#include "lib/base/zone_offsets.hpp"
#include "lib/wire/archive.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

// Zones, of schedules and of limits.
namespace sluice {

void serialize(auto& archive, Of<ZoneOffsets::Change> auto& change) {
    archive(change.at, change.ahead);
}
void serialize(auto& archive, Of<ZoneOffsets> auto& zone) {
    archive(zone.name, zone.first, zone.changes);
}

template <typename Archive>
void serialize_first(Archive& archive, Of<KeptZone> auto& zone) {
    if constexpr (Archive::kReads) {
        ZoneOffsets offsets;
        archive(offsets);
        archive.check(offsets_hold(offsets));
        zone = archive.ok() ? KeptZone::keep(std::move(offsets)) : KeptZone{};
        const std::vector<KeptZone>& named = archive.zones();
        archive.check(static_cast<bool>(zone) &&
                      std::find(named.begin(), named.end(), zone) == named.end());
    } else {
        archive(*zone);
    }
}

// By a number from 0 on, in the order in which a message names its zones; behind the first mention
// of each stands the zone. Keys with counts of their own name the same one by the million.
template <typename Archive>
void serialize(Archive& archive, Of<KeptZone> auto& zone) {
    std::vector<KeptZone>& named = archive.zones();
    auto number =
        static_cast<std::uint16_t>(std::find(named.begin(), named.end(), zone) - named.begin());
    archive(number);
    if (number == named.size()) {
        serialize_first(archive, zone);
        named.push_back(zone);
    }
    archive.check(number < named.size() && number < KeptZone::kMost);
    if constexpr (Archive::kReads) {
        zone = archive.ok() ? named[number] : KeptZone{};
    }
}

}  // namespace sluice
