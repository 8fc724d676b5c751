#pragma once
#include "lib/load/loaded_set.hpp"
#include "lib/pipeline/burst.hpp"
#include "lib/pipeline/core_state.hpp"

namespace sluice {

// Fills each row's flow.
void parse_burst(Burst& burst, const CoreState& core) noexcept;

// Adds to each row's flow that is not malformed the countries and ASNs that rules ask for.
void fill_origins(Burst& burst, const OriginMap& origins) noexcept;
inline void origin_burst(Burst& burst, const LoadedSet& set) noexcept {
    if (set.origin_map != nullptr) [[unlikely]] {
        fill_origins(burst, *set.origin_map);
    }
}

// Notes, for each row that is not malformed, the rules that match, in the order of the file.
void match_burst(Burst& burst, const LoadedSet& set, const CoreState& core) noexcept;

// Hashes the keys of all matching rules and asks for the lines their buckets lie in.
void key_burst(Burst& burst, const LoadedSet& set, const CoreState& core) noexcept;

// Looks into those lines, and asks for the second line of each key that is not there.
void locate_burst(Burst& burst, const CoreState& core) noexcept;

// Looks into those second lines, which have come meanwhile, for buckets with numbers of their own,
// and asks for these; where most keys are exempt, into the first ones.
void locate_own(Burst& burst, const CoreState& core) noexcept;

// Packet by packet, in arrival order: looks at all limits of all matching rules, decides, charges.
// (Keys that have overrides go kind by kind, each key's packets in their order:
// judge_only_overridden.hpp.)
void meter_burst(Burst& burst, const LoadedSet& set, CoreState& core, Now now) noexcept;

}  // namespace sluice
