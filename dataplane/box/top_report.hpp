#pragma once
#include "dataplane/port/ports.hpp"
#include "dataplane/worker/worker_fleet.hpp"
#include "lib/watch/top/top_keys.hpp"
#include "lib/wire/message.hpp"

#include <chrono>

namespace sluice {

// The keys that rules count the most packets for, from what the workers sample.
class TopReport {
public:
    explicit TopReport(WorkerFleet& workers) : workers_{workers} {}

    // Samples of the rules before are counted first.
    void adopt(const LoadedSet& rules);
    void take_samples();
    // Names of ports are those of `ports`.
    // The bytes of the keys that are known of a rule.
    void add_keys(const std::string& rule, std::vector<std::string>& keys) const {
        top_.add_names(rule, keys);
    }
    [[nodiscard]] Top list(const GetTop& request, const Ports& ports);

private:
    WorkerFleet& workers_;
    TopKeys top_;
    std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
};

}  // namespace sluice
