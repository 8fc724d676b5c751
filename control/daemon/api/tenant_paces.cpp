#include "control/daemon/api/tenant_paces.hpp"

namespace sluice {

bool TenantPaces::take(const std::string& tenant) {
    const std::lock_guard lock{mutex_};
    return paces_.try_emplace(tenant, Pace{kAtOnce, kEvery}).first->second.take(Pace::Clock::now());
}

}  // namespace sluice
