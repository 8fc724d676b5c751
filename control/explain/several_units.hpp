#pragma once
#include "control/explain/scene.hpp"

#include <vector>

namespace sluice {

// Each of several units of a packet; none where it has one. Where a rule has refused the packet, by
// `judged`, which of them it refused.
[[nodiscard]] std::vector<UnitAccount> unit_accounts(const Scene& scene, const Burst& judged,
                                                     const Decision& decision);

}  // namespace sluice
