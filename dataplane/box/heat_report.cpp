#include "dataplane/box/heat_report.hpp"

#include "dataplane/box/start_time.hpp"

#include <string>
#include <utility>
#include <vector>

namespace sluice {
namespace {

std::vector<HeatSampler*> samplers_of(WorkerFleet& workers) {
    std::vector<HeatSampler*> samplers;
    for (const auto& sampler : workers.heat()) {
        samplers.push_back(sampler.get());
    }
    return samplers;
}

}  // namespace

HeatReport::HeatReport(WorkerFleet& workers, const RulePublisher& rules, const Ports& ports)
    : workers_{workers}, rules_{rules}, ports_{ports}, origin_{time_of_start()} {}

void HeatReport::tick(Now now) {
    if (!collector_) {
        if (!workers_.is_made()) {
            return;
        }
        collector_.emplace(samplers_of(workers_));
    }
    if (adopted_ != rules_.shared()) {
        std::shared_ptr<const LoadedRules> next = rules_.shared();
        collector_->adopt(next->set(), rules_.generation());
        adopted_ = std::move(next);
    }
    collector_->tick(now, [this](std::uint64_t name) { return ports_.pair_called(name); });
}

HeatmapEpochs HeatReport::read(const ReadHeatmap& request, Now now) {
    tick(now);
    HeatmapEpochs found{.origin = origin_, .latest = 0, .epochs = {}};
    if (!collector_) {
        return found;
    }
    collector_->look_at(request.looked_at, now);
    found.latest = collector_->latest();
    found.epochs = collector_->after(request.origin == origin_ ? request.after : 0, kMostAtOnce);
    return found;
}

HeatStats HeatReport::stats() const {
    return collector_ ? collector_->stats() : HeatStats{};
}

}  // namespace sluice
