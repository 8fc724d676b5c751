#pragma once
#include "lib/pipeline/stages.hpp"

namespace sluice {

// The product, stage by stage. rx before it, and act and tx after it, are dataplane/'s.
inline void run_burst(Burst& burst, const LoadedSet& set, CoreState& core, Now now) noexcept {
    parse_burst(burst, core);
    geo_burst(burst, set);
    match_burst(burst, set, core, now.at);
    key_burst(burst, set, core);
    locate_burst(burst, core);
    locate_second(burst, core);
    meter_burst(burst, set, core, now);
}

// The same for two bursts: the first half of one that has come, and the second half of the one
// before it, whose lines arrive from memory meanwhile. Either may be empty. Both under one set.
// Between the two steps, the burst that has come may lose packets.
inline void match_overlapped(Burst& coming, Burst& going, const LoadedSet& set, CoreState& core,
                             Now now) noexcept {
    locate_burst(going, core);
    parse_burst(coming, core);
    geo_burst(coming, set);
    match_burst(coming, set, core, now.at);
}
inline void meter_overlapped(Burst& coming, Burst& going, const LoadedSet& set, CoreState& core,
                             Now now) noexcept {
    locate_second(going, core);
    key_burst(coming, set, core);
    meter_burst(going, set, core, now);
}
inline void run_overlapped(Burst& coming, Burst& going, const LoadedSet& set, CoreState& core,
                           Now now) noexcept {
    match_overlapped(coming, going, set, core, now);
    meter_overlapped(coming, going, set, core, now);
}

}  // namespace sluice
