#pragma once
#include "lib/bucket/meter/store_asking.hpp"
#include "lib/peer/merge/terms.hpp"

#include <cstddef>
#include <cstdint>

// Whether and how a limit is shared by the boxes of a cluster. M: the boxes that it may have, W:
// the workers of each, U_m: units that a box may have spent which the store has not confirmed, U_w:
// units that a worker may have spent which its box's owner of the key has not counted.
namespace sluice {

// Merged: amounts out, totals back. Asked: each request waits for the store. Refused: no rule set
// may have it; `why` says why.
enum class ClusterSharing : std::uint8_t { Merged, Asked, Refused };

struct ClusterQuestion {
    const AnyLimit& limit;
    std::uint64_t largest_cost;  // units that one packet may be charged
    std::size_t machines;        // M, at least 2
    // W where those of a box share it; where its packets come to one of them, or to its owner, that
    // one and the worker that owns the key by its hash: 2 at most.
    std::size_t workers;
    Nanoseconds merge_interval;      // between workers
    bool requests = false;           // it counts units of layer 7, which may wait
    std::uint64_t max_unsynced = 0;  // U_w as asked for; 0: derived
};

struct ClusterTerms {
    ClusterSharing sharing = ClusterSharing::Refused;
    std::uint64_t box_unsynced = 0;     // U_m
    std::uint64_t worker_unsynced = 0;  // U_w; 0 where W is 1
    // (M - 1) * U_m + M * (W - 1) * U_w: the most that is admitted beyond the limit's own bound; of
    // windows, in each of them.
    std::uint64_t overshoot = 0;
    const char* why = nullptr;  // of what is not merged
    // The burst or count from which on a limit would be merged that is not; 0: none.
    std::uint64_t least = 0;
};

// The part of a burst or count that is admitted beyond it by default.
inline constexpr std::uint64_t kClusterOvershootPart = 8;

// True of limits that the store of a cluster is told of: buckets, and fixed windows that begin by
// UTC in whole microseconds. Others are numbered by each box itself.
[[nodiscard]] bool is_told_to_store(const AnyLimit& limit) noexcept;

// True of limits of open connections: a box's worker that counts those of a key tells the store of
// them (ConnectionGauges).
[[nodiscard]] bool has_gauges(const AnyLimit& limit) noexcept;

// By default the overshoot is 1/8 of the burst or count, half of it for either level, or all for
// boxes where W is 1; at most half of the burst or count, else the limit is asked or refused. U_m
// is at least the largest cost and U_w, U_w at least what is spent while an amount is on its way
// (default_max_unsynced()).
[[nodiscard]] ClusterTerms cluster_terms_for(const ClusterQuestion& question) noexcept;

// The limit's numbers as the store counts by them on being asked; of one that it is not asked about
// yet, all zeroes.
[[nodiscard]] StoreAsking store_asking_of(const AnyLimit& limit) noexcept;

// U_m from which a box never waits for the store: 2 * rate * (`round_trip` + `sync`) + one cost. Of
// a limit that is merged.
[[nodiscard]] std::uint64_t enough_box_unsynced(const ClusterQuestion& question,
                                                Nanoseconds round_trip, Nanoseconds sync) noexcept;

}  // namespace sluice
