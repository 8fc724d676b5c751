#pragma once
#include "lib/engine/burst/burst.hpp"
#include "lib/engine/burst/core_state.hpp"
#include "lib/engine/decide/decide_fast.hpp"

#include <cstddef>

// Later fragments, which have the fate of the first one of their datagram.
namespace sluice {

// Remembers the decision on each first fragment once.
void remember_fragments(Burst& burst, RowMask rows, const CoreState& core, Now now) noexcept;

// Drops a later fragment for what its datagram is, by what has become of all packets before it.
[[nodiscard]] bool refuse_fragment(BurstRow at, FastPath& fast, const CoreState& core,
                                   Now now) noexcept;

}  // namespace sluice
