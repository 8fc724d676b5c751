#pragma once
#include "lib/engine/check/check_limit.hpp"

namespace sluice {

// The conformance of a connection that its box's count admits, beside those of the cluster's other
// boxes.
[[nodiscard]] Conformance ask_gauges(const LimitCheck& check, const CheckContext& context) noexcept;

// Units of such a limit's count that are not the box's to have now; none where limits are others.
[[nodiscard]] Units beside_box(const LimitCheck& check, const CheckContext& context) noexcept;

}  // namespace sluice
