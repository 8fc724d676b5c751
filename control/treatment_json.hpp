#pragma once
#include "control/json.hpp"
#include "lib/rules/packet_treatment.hpp"

#include <optional>

namespace sluice {

// A box's treatment of packets, as sluiced tells sluicectl of it; times are in nanoseconds.
[[nodiscard]] Json treatment_json(const PacketTreatment& treatment);
// nullopt: it is none.
[[nodiscard]] std::optional<PacketTreatment> treatment_from(const Json& json);

}  // namespace sluice
