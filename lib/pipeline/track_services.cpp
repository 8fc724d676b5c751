#include "lib/pipeline/track_services.hpp"

#include "lib/pipeline/burst_units.hpp"
#include "lib/pipeline/stages.hpp"

namespace sluice {

RowMask track_services(Burst& burst, RowMask rows, const LoadedSet& set, const CoreState& core,
                       Instant now) noexcept {
    BurstUnits* const units = burst.unit_parser();
    if (units == nullptr || burst.origin() != Burst::Origin::Port) {
        return 0;
    }
    (void)burst.connection_ends(rows & burst.headers().present_rows(HeaderPart::Tcp), core.hash);
    units->track({.burst = unit_columns_of(burst, set, core, now),
                  .services = set.services,
                  .scratch = burst.scratch().matches,
                  .load = set.load,
                  .unread_bursts = core.unread_bursts},
                 rows);
    const ServiceRowsOutcome& outcome = units->services();
    for_each_row(outcome.refused,
                 [&](std::size_t row) { burst.decision(row) = dropped_for(outcome.why[row]); });
    for_each_row(outcome.would_refuse, [&](std::size_t row) {
        core.counters.would_refuse[static_cast<std::size_t>(outcome.why[row])].add(1);
    });
    burst.set_normalized(outcome.normalized);
    return outcome.refused;
}

}  // namespace sluice
