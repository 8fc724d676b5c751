#pragma once
#include "lib/wire/message.hpp"

#include <optional>
#include <string>

namespace sluice {

// Prometheus text format 0.0.4. Without a dataplane only sluice_dataplane_up and the build are
// there. Keys of rules are never labels.
[[nodiscard]] std::string metrics_text(const std::optional<Stats>& stats);

}  // namespace sluice
