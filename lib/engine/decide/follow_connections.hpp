#pragma once
#include "lib/bucket/meter/connection_segment.hpp"
#include "lib/engine/burst/burst.hpp"
#include "lib/engine/burst/core_state.hpp"

#include <cstddef>

// Packets of connections that limits count as open: each that is forwarded keeps its connection
// open, or closes it.
namespace sluice {

// True if any packet of a burst may be one of those.
[[nodiscard]] inline bool follows_connections(const LoadedSet& set,
                                              const CoreState& core) noexcept {
    return set.meter_plan.counts_open || !core.buckets.registry.pool().index().empty();
}

// One packet, at its turn, once it has been decided.
void follow_row(const Burst& burst, std::size_t row, CoreState& core, Now now) noexcept;

// True if a limit may know that connection, here or at another worker; and if one that counts
// from the handshake on may know it as half open, also by packets of bursts that have not been
// decided yet.
[[nodiscard]] bool may_be_known(std::uint64_t digest, const CoreState& core) noexcept;
[[nodiscard]] bool may_complete(std::uint64_t digest, const CoreState& core) noexcept;

// True if a segment completes the handshake of a connection that the limit of this slot knows as
// half open.
[[nodiscard]] bool completes_handshake(const ConnectionStart& start, LimitSlot slot,
                                       const CoreState& core, Now now) noexcept;

// RSTs that the box has sent itself in the name of an end, since the last call.
void follow_resets(CoreState& core, Now now) noexcept;

// The same of one that has passed at another worker.
void follow_segment(const ConnectionSegment& segment, CoreState& core, Now now) noexcept;

// Applies the notices of other workers about connections open here. Before a burst is decided.
void poll_connections(CoreState& core, Now now) noexcept;

// Tells the counters what has been opened and closed until now.
void count_connections(CoreState& core) noexcept;

}  // namespace sluice
