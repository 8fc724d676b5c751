#pragma once
#include "lib/base/stat_row.hpp"

#include <cstdint>

namespace sluice {

// The heat maps of a box since its start, and now.
struct HeatStats {
    std::uint64_t epochs = 0;
    std::uint64_t late_workers = 0;  // that stood still at a turn
    std::uint64_t forgotten = 0;     // keys that came when their limit had no map any more
    std::uint64_t left_out = 0;      // packets of watched keys without a place
    std::uint64_t lost_names = 0;    // packets of named keys that found no room
    // Now:
    std::uint64_t watched_limits = 0;
    std::uint64_t unwatched_limits = 0;  // that would have a map if there was room for more
};

template <>
inline constexpr auto kStatRows<HeatStats> = std::tuple{
    StatRow{&HeatStats::epochs,
            {"epochs"},
            {"sluice_heatmap_epochs_total", "Seconds that heat maps have been sampled for."}},
    StatRow{&HeatStats::late_workers,
            {"late_workers"},
            {"sluice_heatmap_late_workers_total",
             "Times that a worker stood still at the end of such a second."}},
    StatRow{&HeatStats::forgotten,
            {"forgotten_keys"},
            {"sluice_heatmap_forgotten_keys_total",
             "Sampled keys that came when their limit had no heat map any more."}},
    StatRow{
        &HeatStats::left_out,
        {"left_out_packets"},
        {"sluice_heatmap_left_out_packets_total", "Packets of sampled keys that found no place."}},
    StatRow{&HeatStats::lost_names,
            {"lost_names"},
            {"sluice_heatmap_lost_names_total",
             "Packets of sampled keys whose names and fields found no room."}},
    StatRow{&HeatStats::watched_limits,
            {"limits"},
            {"sluice_heatmap_limits", "Limits whose keys are sampled for heat maps."}},
    StatRow{&HeatStats::unwatched_limits,
            {"limits_without_room"},
            {"sluice_heatmap_limits_without_room",
             "Limits that would have a heat map if there was room for more."}},
};

}  // namespace sluice
