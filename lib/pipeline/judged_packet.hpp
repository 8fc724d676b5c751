#pragma once
#include "lib/load/loaded_set.hpp"
#include "lib/pipeline/burst.hpp"
#include "lib/pipeline/look.hpp"

#include <cstddef>
#include <span>

namespace sluice {

// The rules that match one packet, and a look for each limit of theirs, in the order of the file.
struct PacketLooks {
    std::span<Match> matches;
    std::span<LimitCheck> checks;
};

// Writes them down from what the burst's look-ups hold; good until this is called again for the
// burst. A limit that has nothing to judge (no unit in the packet, or a part of its tier's key
// missing) has a look of cost 0.
[[nodiscard]] PacketLooks looks_of_packet(Burst& burst, std::size_t row,
                                          const LoadedSet& set) noexcept;

}  // namespace sluice
