#include "control/daemon/heatmap/heatmaps.hpp"

#include <utility>

namespace sluice {

bool Heatmaps::look(const std::string& rule, Clock::time_point now) {
    const std::lock_guard lock{mutex_};
    std::erase_if(looks_, [&](const auto& one) { return one.second <= now; });
    if (looks_.size() >= kMostLookedAt && !looks_.contains(rule)) {
        return false;
    }
    looks_[rule] = now + kLookHolds;
    return true;
}

std::vector<std::string> Heatmaps::looked_at(Clock::time_point now) {
    const std::lock_guard lock{mutex_};
    std::erase_if(looks_, [&](const auto& one) { return one.second <= now; });
    std::vector<std::string> rules;
    for (const auto& [rule, until] : looks_) {
        rules.push_back(rule);
    }
    return rules;
}

void Heatmaps::set_failed(std::string why) {
    const std::lock_guard lock{mutex_};
    failed_ = std::move(why);
}

std::string Heatmaps::failed() const {
    const std::lock_guard lock{mutex_};
    return failed_;
}

}  // namespace sluice
