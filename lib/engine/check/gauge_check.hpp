#pragma once
#include "lib/engine/check/check_limit.hpp"

namespace sluice {

// Whether a connection that its box's count admits may open beside those of the cluster's other
// boxes.
[[nodiscard]] Conformance ask_gauges(const LimitCheck& check, const CheckContext& context) noexcept;

}  // namespace sluice
