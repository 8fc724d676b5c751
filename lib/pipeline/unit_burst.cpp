#include "lib/pipeline/burst_units.hpp"
#include "lib/pipeline/key_asker.hpp"
#include "lib/pipeline/stages.hpp"

namespace sluice {

UnitColumns unit_columns_of(const Burst& burst, const LoadedSet& set, const CoreState& core,
                            Instant now) noexcept {
    return {.headers = burst.headers(),
            .frames = burst.frames(),
            .wanted = set.meter_plan.texts,
            .counted = set.meter_plan.counts,
            .hash = core.hash,
            .now = now};
}

RowMask find_units(Burst& burst, RowMask rows, const LoadedSet& set, const CoreState& core,
                   Instant now) noexcept {
    if (burst.unit_parser() == nullptr) {
        return 0;
    }
    const UnitColumns columns = unit_columns_of(burst, set, core, now);
    if (burst.origin() != Burst::Origin::Room) [[likely]] {
        rows = burst.unit_parser()->select(columns, rows);
    }
    if (rows == 0) {
        return 0;
    }
    BurstUnits& units = burst.begin_units();
    RowMask crowded = 0;
    RowMask several = 0;
    units.set_load(set.load);
    const auto find = [&](std::size_t row) {
        const bool has_waited = burst.place(row) != kNoRoomPlace;
        const UnitSource packet{.headers = burst.headers_of(row),
                                .frame = burst.frame(row),
                                .note = has_waited ? 0 : units.note(row),
                                .wanted = set.meter_plan.texts,
                                .counted = set.meter_plan.counts,
                                .requests = set.request_texts,
                                .hash = core.hash,
                                .now = now,
                                .load = set.load,
                                .unread_bursts = core.unread_bursts};
        if (has_waited) [[unlikely]] {
            return units.find_again(row, packet, core.asker->held(burst.place(row)).units);
        }
        return units.find(row, packet);
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
    if (burst.is_new()) {
        units.for_each_event([&](std::size_t event, std::uint32_t times) {
            core.counters.by_unit_event[event].add(times);
        });
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
