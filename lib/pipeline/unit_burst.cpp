#include "lib/pipeline/burst_units.hpp"
#include "lib/pipeline/key_asker.hpp"
#include "lib/pipeline/stages.hpp"

namespace sluice {

RowMask find_units(Burst& burst, RowMask rows, const LoadedSet& set, const CoreState& core,
                   Instant now) noexcept {
    if (burst.unit_parser() == nullptr) {
        return 0;
    }
    rows &= burst.unit_parser()->rows_in(burst.headers());
    if (rows == 0) {
        return 0;
    }
    BurstUnits& units = burst.begin_units();
    RowMask crowded = 0;
    RowMask several = 0;
    const auto find = [&](std::size_t row) {
        if (burst.place(row) != kNoRoomPlace) [[unlikely]] {
            return units.find_again(row, burst.frame(row).bytes,
                                    core.asker->held(burst.place(row)).units);
        }
        return units.find(row, {.headers = burst.headers_of(row),
                                .frame = burst.frame(row),
                                .wanted = set.meter_plan.texts,
                                .counted = set.meter_plan.counts,
                                .requests = set.request_texts,
                                .hash = core.hash,
                                .now = now});
    };
    for_each_row(rows, [&](std::size_t row) {
        if (!find(row)) {
            crowded |= row_bit(row);
        } else if (units.count(row) != 0) {
            if (has_row(burst.proxied(), row)) [[unlikely]] {
                units.name_clients(row, *set.proxied_clients);
            }
            if (!set.derived_texts.empty()) {
                units.derive_texts(row, set.derived_texts);
            }
            const BurstUnits::Unit& first = units.unit(row, 0);
            burst.set_unit(row, first.kind, first.texts);
            several |= units.count(row) > 1 ? row_bit(row) : 0;
            units.add_further(burst, row);
        }
    });
    for (std::size_t event = 0; burst.is_new() && event < kUnitEventCount; ++event) {
        core.counters.by_unit_event[event].add(units.events()[event]);
    }
    burst.set_several(several);
    for (Burst& further : units.further()) {
        parse_burst(further, core);
        geo_burst(further, set);
        units.set_texts(further);
    }
    return crowded;
}

}  // namespace sluice
