#include "control/daemon/heatmap/heatmaps.hpp"

#include "lib/rules/tenant_name.hpp"

#include <string_view>
#include <utility>

namespace sluice {

bool Heatmaps::look(const std::string& rule, Role role, Clock::time_point now) {
    const std::lock_guard lock{mutex_};
    std::erase_if(looks_, [&](const auto& one) { return one.second.until <= now; });
    const bool is_viewers = role == Role::View;
    const auto found = looks_.find(rule);
    if (found == looks_.end() && !has_room(rule, is_viewers)) {
        ++refused_looks_;
        return false;
    }
    const bool is_theirs_alone = is_viewers && (found == looks_.end() || found->second.is_viewers);
    looks_[rule] = {now + kLookHolds, is_theirs_alone};
    return true;
}

bool Heatmaps::has_room(const std::string& rule, bool is_viewers) const {
    const std::string_view tenant = tenant_of(rule);
    std::size_t of_tenants = 0;
    std::size_t of_tenant = 0;
    std::size_t of_viewers = 0;
    for (const auto& [one, look] : looks_) {
        of_viewers += look.is_viewers ? 1 : 0;
        of_tenants += tenant_of(one).empty() ? 0 : 1;
        of_tenant += tenant_of(one) == tenant ? 1 : 0;
    }
    if (tenant.empty() && !is_viewers) {
        return looks_.size() < kMostLookedAt;
    }
    const bool has_share = is_viewers ? of_viewers < kMostOfViewers
                                      : of_tenants < kMostOfTenants && of_tenant < kMostOfTenant;
    return has_share && of_viewers + of_tenants < kMostLookedAt - kLeftToOthers &&
           looks_.size() < kMostLookedAt;
}

std::uint64_t Heatmaps::refused_looks() const {
    const std::lock_guard lock{mutex_};
    return refused_looks_;
}

std::vector<std::string> Heatmaps::looked_at(Clock::time_point now) {
    const std::lock_guard lock{mutex_};
    std::erase_if(looks_, [&](const auto& one) { return one.second.until <= now; });
    std::vector<std::string> rules;
    for (const auto& [rule, look] : looks_) {
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
