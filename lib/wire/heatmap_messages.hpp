#pragma once
#include "lib/watch/heatmap/heat_epoch.hpp"
#include "lib/watch/heatmap/heat_stats.hpp"

#include <cstdint>
#include <string>
#include <vector>

// Messages that heat maps are drawn from.
namespace sluice {

// Asks for the epochs after one, and has rules watched that somebody looks at, beside those with
// `heatmap: on`: until kLookLasts after the last request that names them.
struct ReadHeatmap {
    std::uint64_t origin = 0;  // as in HeatmapEpochs; of another dataplane: from the oldest on
    std::uint64_t after = 0;   // number of an epoch; 0: the oldest
    std::vector<std::string> looked_at;  // rules by id, kMostLookedAt at most

    static void fields(auto& archive, auto& m) {
        archive(m.origin, m.after, m.looked_at);
        archive.check(m.looked_at.size() <= kMostLookedAt);
    }
};
struct HeatmapEpochs {
    std::uint64_t origin = 0;       // of the numbers: another one for every start of a dataplane
    std::uint64_t latest = 0;       // the number of the last epoch that has ended; 0: none has
    std::vector<HeatEpoch> epochs;  // oldest first, few: ask again where the last is not the latest

    static void fields(auto& archive, auto& m) { archive(m.origin, m.latest, m.epochs); }
};

}  // namespace sluice
