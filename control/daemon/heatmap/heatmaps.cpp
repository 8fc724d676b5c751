#include "control/daemon/heatmap/heatmaps.hpp"

#include "lib/rules/tenant_name.hpp"

#include <string_view>
#include <utility>

namespace sluice {

bool Heatmaps::look(const std::string& rule, Clock::time_point now) {
    const std::lock_guard lock{mutex_};
    std::erase_if(looks_, [&](const auto& one) { return one.second <= now; });
    if (!looks_.contains(rule) && !has_room(rule)) {
        ++refused_looks_;
        return false;
    }
    looks_[rule] = now + kLookHolds;
    return true;
}

bool Heatmaps::has_room(const std::string& rule) const {
    const std::string_view tenant = tenant_of(rule);
    std::size_t of_tenants = 0;
    std::size_t of_tenant = 0;
    for (const auto& [one, until] : looks_) {
        of_tenants += tenant_of(one).empty() ? 0 : 1;
        of_tenant += tenant_of(one) == tenant ? 1 : 0;
    }
    return looks_.size() < kMostLookedAt &&
           (tenant.empty() || (of_tenants < kMostOfTenants && of_tenant < kMostOfTenant));
}

std::uint64_t Heatmaps::refused_looks() const {
    const std::lock_guard lock{mutex_};
    return refused_looks_;
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
