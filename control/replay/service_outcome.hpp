#pragma once
#include "lib/engine/burst/burst.hpp"
#include "lib/l7/stream/loaded_services.hpp"
#include "lib/l7/stream/service_packet.hpp"

#include <cstddef>
#include <optional>

namespace sluice {

// A packet of a service, and what that made of it.
struct ServiceOutcome {
    std::size_t index = 0;  // of the service in its set
    ServicePacket packet;
    std::optional<Reason> refused;       // by a service that enforces
    std::optional<Reason> would_refuse;  // by one that monitors
    Normalization rewritten;             // where it is forwarded
    bool is_segment = false;             // of TCP
};

// nullopt: the packet, which has been decided, is of no service.
[[nodiscard]] std::optional<ServiceOutcome> service_outcome(const Burst& burst, std::size_t row,
                                                            const LoadedServices& services);

}  // namespace sluice
