#pragma once
#include "lib/engine/burst/stage_laps.hpp"
#include "lib/engine/key/source_ban.hpp"
#include "lib/engine/stage/stages.hpp"

namespace sluice {

// Schedules hold or not for a whole burst.
inline void follow_schedules(const LoadedSet& set, CoreState& core, Now now) noexcept {
    if (!set.schedules.empty()) [[unlikely]] {
        core.schedules.follow(set.schedules, set.load, now.utc());
    }
}
// The product, stage by stage, in two steps. rx before them, and act and tx after them, are
// dataplane/'s. Between the two a burst may lose packets: nothing has been charged by then.
inline void match_stages(Burst& burst, const LoadedSet& set, CoreState& core, Now now) noexcept {
    parse_burst(burst, core);
    geo_burst(burst, set);
    follow_schedules(set, core, now);
    find_bans(burst, set, core, now);
    match_burst(burst, set, core, now.at);
}
inline void meter_stages(Burst& burst, const LoadedSet& set, CoreState& core, Now now) noexcept {
    key_burst(burst, set, core);
    locate_burst(burst, core);
    locate_second(burst, core);
    meter_burst(burst, set, core, now);
}
inline void run_burst(Burst& burst, const LoadedSet& set, CoreState& core, Now now) noexcept {
    match_stages(burst, set, core, now);
    meter_stages(burst, set, core, now);
}

// Two bursts on their way, either of which may be empty.
struct Overlapped {
    Burst& next;
    Burst& current;
};

// The same for two bursts: the first half of one that has come, and the second half of the one
// before it, whose lines arrive from memory meanwhile. Both under one set. Between the two steps,
// the burst that has come may lose packets. `laps` is told of each stage as it ends.
template <typename Laps = const NoLaps>
void match_overlapped(Overlapped bursts, const LoadedSet& set, CoreState& core, Now now,
                      Laps& laps = kNoLaps) noexcept {
    locate_burst(bursts.current, core);
    laps.lap(Stage::Locate);
    parse_burst(bursts.next, core);
    geo_burst(bursts.next, set);
    laps.lap(Stage::Parse);
    follow_schedules(set, core, now);
    find_bans(bursts.next, set, core, now);
    match_burst(bursts.next, set, core, now.at);
    laps.lap(Stage::Match);
}
template <typename Laps = const NoLaps>
void meter_overlapped(Overlapped bursts, const LoadedSet& set, CoreState& core, Now now,
                      Laps& laps = kNoLaps) noexcept {
    locate_second(bursts.current, core);
    laps.lap(Stage::Locate);
    key_burst(bursts.next, set, core);
    laps.lap(Stage::Key);
    meter_burst(bursts.current, set, core, now);
    laps.lap(Stage::Meter);
}
inline void run_overlapped(Burst& next, Burst& current, const LoadedSet& set, CoreState& core,
                           Now now) noexcept {
    match_overlapped({next, current}, set, core, now);
    meter_overlapped({next, current}, set, core, now);
}

}  // namespace sluice
