#pragma once
#include "lib/l7/stream/service.hpp"
#include "lib/match/address_set.hpp"
#include "lib/match/classifier.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

namespace sluice {

// A service as the workers have it.
struct LoadedService : Service {
    // The service's proxies, to be looked up; nullptr: it has none.
    std::shared_ptr<const AddressSet> proxy_set{};

    // True if connections from this address begin with a PROXY protocol header.
    [[nodiscard]] bool is_proxied(const VersionedAddress& source) const noexcept {
        return proxy_set != nullptr && proxy_set->has(source);
    }
};

// The services of a rule set, which outlives them. A service is named by its index.
struct LoadedServices {
    const Classifier* classifier = nullptr;  // its rules are the services; nullptr: there are none
    std::vector<LoadedService> all;
    bool enforces = false;          // one of them does
    bool follows_upgrades = false;  // of one it matters when its server agrees to an upgrade

    [[nodiscard]] bool empty() const noexcept { return all.empty(); }
};

[[nodiscard]] LoadedServices loaded_services(const std::vector<Service>& services,
                                             const Classifier& classifier);

// Follows the connections of all of them by what clients send alone, as `path: inbound` does.
void follow_one_way(LoadedServices& services) noexcept;

}  // namespace sluice
