#pragma once
#include "control/daemon/pace.hpp"

#include <chrono>
#include <map>
#include <mutex>
#include <string>

namespace sluice {

// Changes that each tenant may make: every one compiles the whole set and gives it another tag, so
// that without a pace one tenant would keep operators from making theirs, and would push their
// lines out of the audit. Called from several threads.
class TenantPaces {
public:
    static constexpr unsigned kAtOnce = 20;
    static constexpr std::chrono::seconds kEvery{2};

    // False: the tenant has made many lately.
    [[nodiscard]] bool take(const std::string& tenant);

private:
    std::mutex mutex_;
    std::map<std::string, Pace> paces_;  // of tenants of sluice.yaml, and so few
};

}  // namespace sluice
