#pragma once
#include "control/daemon/dataplane_link.hpp"
#include "control/daemon/heatmap/epoch_clock.hpp"
#include "control/daemon/heatmap/heatmaps.hpp"
#include "control/daemon/rule_keeper.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sluice {

// True of a rule with `heatmap: on`.
[[nodiscard]] bool always_has_map(const RuleSummary& rule);

// The limit as its heat map goes by it: with other terms a map begins anew. nullopt: the rules have
// no such limit.
[[nodiscard]] std::optional<std::string> heat_terms_of(const RuleView& view,
                                                       const std::string& rule, unsigned limit);

// Reads the watched keys of each second from the dataplane, while a rule has `heatmap: on` or
// somebody looks at one. Whatever is changed of the rules, the map of a limit that stays as it is
// goes on: seconds of a former rule set count for the limits that had the same terms then.
class HeatReader {
public:
    static constexpr std::chrono::seconds kPause{1};

    HeatReader(RuleKeeper& rules, DataplaneLink& link, Heatmaps& maps) noexcept
        : rules_{rules}, link_{link}, maps_{maps} {}

    void tick(Heatmaps::Clock::time_point now, std::int64_t utc_ns);

private:
    void read(const RuleView& view, std::vector<std::string> looked_at);
    void take(const HeatEpoch& epoch, const RuleView& view);
    // True if the terms are the limit's by that set too.
    [[nodiscard]] bool is_kept_since(const HeatEpoch& epoch, const HeatLimit& limit,
                                     const RuleView& view) const;
    void forget_others(const RuleView& view);

    RuleKeeper& rules_;
    DataplaneLink& link_;
    Heatmaps& maps_;
    EpochClock clock_;
    std::uint64_t origin_ = 0;
    std::uint64_t after_ = 0;
    std::uint64_t generation_ = 0;
    std::shared_ptr<const RuleView> before_;  // as of the last turn
};

}  // namespace sluice
