#pragma once
#include "lib/engine/burst/burst.hpp"
#include "lib/engine/burst/core_state.hpp"
#include "lib/rules/load/loaded_set.hpp"

namespace sluice {

// Follows the connections of the rule set's services that rows of the burst belong to, in their
// order. The rows that enforced ones refuse are returned, decided: no rule sees them.
[[nodiscard]] RowMask track_services(Burst& burst, RowMask rows, const LoadedSet& set,
                                     const CoreState& core, Instant now) noexcept;

// The worker follows the rule set's services from now on, whether packets come to it or not: the
// times that begin with a set, or behind a gap, are the same for all workers. The burst is empty.
void adopt_services(Burst& burst, const LoadedSet& set, const CoreState& core,
                    Instant now) noexcept;

// Tells those who follow connections of services which of them the box has reset since the burst
// before, and which servers have agreed to another protocol. The burst may be empty.
void notify_connections(Burst& burst, const LoadedSet& set, const CoreState& core,
                        Instant now) noexcept;

}  // namespace sluice
