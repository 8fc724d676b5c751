#include "lib/base/kept_zone.hpp"

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace sluice {
namespace {

struct ZonesOfProcess {
    std::mutex mutex;
    std::vector<std::unique_ptr<const ZoneOffsets>> zones;
};

// Never destroyed: threads may still read a zone when a process ends.
ZonesOfProcess& zones_of_process() {
    static auto* const zones = new ZonesOfProcess;
    return *zones;
}

}  // namespace

KeptZone KeptZone::keep(ZoneOffsets offsets) {
    ZonesOfProcess& kept = zones_of_process();
    const std::lock_guard lock{kept.mutex};
    const auto known = std::find_if(kept.zones.begin(), kept.zones.end(),
                                    [&](const auto& zone) { return *zone == offsets; });
    if (known != kept.zones.end()) {
        return KeptZone{known->get()};
    }
    if (kept.zones.size() >= kMost) {
        return {};
    }
    kept.zones.push_back(std::make_unique<const ZoneOffsets>(std::move(offsets)));
    return KeptZone{kept.zones.back().get()};
}

}  // namespace sluice
