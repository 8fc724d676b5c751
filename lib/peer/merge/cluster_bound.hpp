#pragma once
#include <cstdint>

namespace sluice {

// A limit of the cluster, as a worker's ledger knows it. The last two are for a key whose credit is
// spent while the store is away.
struct ClusterBound {
    std::uint32_t box_unsynced = 0;  // U_m; 0: the limit is the box's own
    std::uint16_t times_down = 1;    // units that the copy is charged for each one
    bool closed_down = false;        // nothing is admitted

    [[nodiscard]] bool operator==(const ClusterBound&) const noexcept = default;
};

}  // namespace sluice
