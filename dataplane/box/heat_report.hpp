#pragma once
#include "dataplane/box/rule_publisher.hpp"
#include "dataplane/port/ports.hpp"
#include "dataplane/worker/worker_fleet.hpp"
#include "lib/base/now.hpp"
#include "lib/watch/heatmap/heat_collector.hpp"
#include "lib/wire/message.hpp"

#include <cstdint>
#include <memory>
#include <optional>

namespace sluice {

// The heat maps' epochs, for those who ask: the collector over this box's workers, under the rules
// in force. A reload ends the epoch.
class HeatReport {
public:
    // All outlive it.
    HeatReport(WorkerFleet& workers, const RulePublisher& rules, const Ports& ports);

    // Turns and reads what is due, under the rules that are in force by now.
    void tick(Now now);
    [[nodiscard]] HeatmapEpochs read(const ReadHeatmap& request, Now now);
    [[nodiscard]] HeatStats stats() const;

private:
    static constexpr std::size_t kMostAtOnce = 2;  // epochs of one answer

    WorkerFleet& workers_;
    const RulePublisher& rules_;
    const Ports& ports_;
    std::uint64_t origin_;
    std::shared_ptr<const LoadedRules> adopted_;
    std::optional<HeatCollector> collector_;  // once there are workers
};

}  // namespace sluice
