#include "lib/rules/service_fault.hpp"

#include "lib/rules/rule_set.hpp"

#include <unordered_set>

namespace sluice {
namespace {

// Settings that a protocol does not have keep their defaults.
bool settings_hold(const Service& service) {
    const Service defaults = service_of(service.protocol);
    bool all = static_cast<std::size_t>(service.protocol) < kServiceProtocolNames.size() &&
               (service.mode == Mode::Monitor || service.mode == Mode::Enforce);
    for_each_service_key(service.protocol, [&](const auto& row, bool fits) {
        all = all && value_holds(row, service) &&
              (fits || service.*row.member == defaults.*row.member);
    });
    return all;
}

bool network_holds(const IpPrefix& network) noexcept {
    const bool v4 = network.version == IpVersion::V4;
    return (v4 || network.version == IpVersion::V6) && network.length <= (v4 ? 32 : 128) &&
           masked(network.address, network.length) == network.address;
}

bool proxies_hold(const Service& service) noexcept {
    return service.proxies.size() <= kMaxServiceProxies &&
           std::all_of(service.proxies.begin(), service.proxies.end(), network_holds);
}

std::optional<std::string> fault_of(const Service& service) {
    if (service.id.empty() || service.id.size() > kMaxRuleIdSize) {
        return "the id of a service is empty or too long";
    }
    if (!settings_hold(service)) {
        return "service " + service.id + ": a setting is out of range";
    }
    if (!proxies_hold(service)) {
        return "service " + service.id + ": its proxies are not sound";
    }
    return std::nullopt;
}

// Found before units and origins are.
bool fields_hold(const Classifier& classifier) noexcept {
    const std::vector<DimensionParts>& dimensions = classifier.parts().dimensions;
    return !classifier.asks_text() && classifier.parts().texts.tests.empty() &&
           std::all_of(dimensions.begin(), dimensions.end(), [](const DimensionParts& dimension) {
               return is_service_field(dimension.field);
           });
}

}  // namespace

std::optional<std::string> find_service_fault(const std::vector<Service>& services,
                                              const Classifier& classifier) {
    if (services.size() > kMaxServices) {
        return "more than " + std::to_string(kMaxServices) + " services";
    }
    if (!are_sound(classifier.parts(), services.size()) || !fields_hold(classifier)) {
        return "the compiled conditions of services are not sound";
    }
    std::unordered_set<std::string> ids;
    for (const Service& service : services) {
        if (std::optional<std::string> fault = fault_of(service)) {
            return fault;
        }
        if (!ids.insert(service.id).second) {
            return "two services are called " + service.id;
        }
    }
    return std::nullopt;
}

}  // namespace sluice
