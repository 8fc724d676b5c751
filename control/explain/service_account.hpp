#pragma once
#include "control/json.hpp"
#include "control/replay/replay_rules.hpp"
#include "control/replay/service_outcome.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace sluice {

// The service of a packet, and what its tracker and its reader made of the packet.
struct ServiceAccount {
    std::string id;
    std::string_view protocol;
    std::string_view mode;
    ServiceOutcome outcome;

    // "passed", "dropped", "would_refuse" or "rewritten"; what a rule does later is not in it.
    [[nodiscard]] std::string_view fate() const;
};

// nullopt: the packet, which has been decided, is of no service.
[[nodiscard]] std::optional<ServiceAccount> service_account(const Burst& burst,
                                                            const LoadedServices& services);

// "service\n  web (http, enforce), from the client: dropped, out_of_window (...)\n".
[[nodiscard]] std::string service_text(const ServiceAccount& account);
[[nodiscard]] Json service_json(const ServiceAccount& account);

}  // namespace sluice
