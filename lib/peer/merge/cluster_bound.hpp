#pragma once
#include <cstdint>

namespace sluice {

// A limit of the cluster, as a worker's ledger knows it: what is admitted of a key without credit
// goes by `owner_down` while the store is away, and by the box's share where the store's budget or
// the records have no room for it.
struct ClusterBound {
    std::uint32_t box_unsynced = 0;  // U_m; 0: the limit is the box's own
    std::uint16_t times_down = 1;    // `owner_down`: units that the copy is charged for each one
    bool closed_down = false;        // `owner_down`: nothing is admitted
    std::uint16_t machines = 1;      // the share: units that the copy is charged for each one
    bool windows = false;            // what it counts is of windows, which go by a clock
    std::uint64_t overshoot = 0;     // that all boxes may be beyond the burst of a key together

    [[nodiscard]] bool operator==(const ClusterBound&) const noexcept = default;
};

}  // namespace sluice
