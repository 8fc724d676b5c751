#pragma once
#include "lib/engine/burst/burst.hpp"
#include "lib/engine/burst/limit_check.hpp"
#include "lib/rules/load/loaded_set.hpp"

#include <cstddef>
#include <span>

namespace sluice {

// The units of one packet, in their order in it: its own alone, or those of later layers that it
// completes. The rules that match each of them, in the order of the file, lie one behind the other
// from `matches` on, and a look for each limit of theirs from `checks` on.
struct PacketChecks {
    std::span<EvaluatedUnit> units;
    Match* matches;
    LimitCheck* checks;
};

// Writes them down from what the burst's look-ups hold; good until this is called again for the
// burst. A limit that has nothing to judge (no unit in the packet, or a part of its tier's key
// missing) has a look of cost 0.
[[nodiscard]] PacketChecks collect_checks(Burst& burst, std::size_t row,
                                          const LoadedSet& set) noexcept;

}  // namespace sluice
