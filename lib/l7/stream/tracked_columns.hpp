#pragma once
#include "lib/l7/stream/loaded_services.hpp"
#include "lib/l7/stream/unit_event_counters.hpp"
#include "lib/match/rule_matches.hpp"

#include <cstdint>

namespace sluice {

struct UnitColumns;

// The view of a burst that trackers of services are shown.
struct TrackedColumns {
    const UnitColumns& burst;
    const LoadedServices& services;
    RuleMatches& scratch;  // of the services' classifier
    UnitEventCounters& counters;
    std::uint64_t load = 0;              // see UnitSource
    std::uint64_t untracked_bursts = 0;  // that were forwarded untracked before
};

}  // namespace sluice
