#pragma once
#include "control/fleet/fleet_records.hpp"
#include "control/json.hpp"

namespace sluice {

// A box's link to the store, as `nodes --json` and GET /v1/cluster/nodes have it; null: the box has
// not read it.
[[nodiscard]] inline Json reading_json(const StoreReading& store) {
    if (store.state.empty()) {
        return nullptr;
    }
    return {{"state", store.state},
            {"rtt_us", store.rtt_us},
            {"clock_offset_us", store.clock_off_us},
            {"unsynced", store.unsynced}};
}

}  // namespace sluice
