#pragma once
#include "lib/base/result.hpp"

#include <cstdint>

namespace sluice {

using CapabilityMask = std::uint64_t;

// Leaves each thread of this process, and what they start, the capabilities of the mask that it
// has, and no others. The kernel knows capabilities of threads alone, so each drops its own, in a
// handler of a signal that is sent to it.
[[nodiscard]] Result<Done> on_every_thread(CapabilityMask left);

}  // namespace sluice
