#pragma once
#include "control/daemon/dataplane_link.hpp"
#include "control/daemon/heatmap/epoch_clock.hpp"
#include "control/daemon/heatmap/heatmaps.hpp"
#include "control/daemon/rule_keeper.hpp"

#include <chrono>
#include <cstdint>

namespace sluice {

// True of a rule with `heatmap: on`.
[[nodiscard]] bool always_has_map(const RuleSummary& rule);

// Reads the watched keys of each second from the dataplane, while a rule has `heatmap: on` or
// somebody looks at one. Seconds of another rule set than the one that is shown are left out: their
// columns have no data.
class HeatReader {
public:
    static constexpr std::chrono::seconds kPause{1};

    HeatReader(RuleKeeper& rules, DataplaneLink& link, Heatmaps& maps) noexcept
        : rules_{rules}, link_{link}, maps_{maps} {}

    void tick(Heatmaps::Clock::time_point now, std::int64_t utc_ns);

private:
    void read(const RuleView& view, std::vector<std::string> looked_at);
    void take(const HeatEpoch& epoch, const RuleView& view);
    void forget_others(const RuleView& view);

    RuleKeeper& rules_;
    DataplaneLink& link_;
    Heatmaps& maps_;
    EpochClock clock_;
    std::uint64_t origin_ = 0;
    std::uint64_t after_ = 0;
    std::uint64_t generation_ = 0;
};

}  // namespace sluice
