#pragma once
#include "lib/engine/stage/trace_burst.hpp"
#include "lib/watch/trace/trace.hpp"

#include <cstddef>

namespace sluice {

// Counts the packets of a decided burst that the draft of a preview matches, and shows those of the
// keys that it samples. The trace is of a preview.
void preview_burst(Trace& trace, std::size_t worker, const TracedBurst& decided) noexcept;

}  // namespace sluice
