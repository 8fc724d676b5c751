#include "lib/pipeline/burst_units.hpp"
#include "lib/pipeline/stages.hpp"

namespace sluice {
namespace {

// What has too many units is malformed, and has none.
void refuse(Burst& burst, std::size_t row) noexcept {
    burst.headers().malformed |= row_bit(row);
    burst.headers().parsed[row] = Parsed::TooManyUnits;
}

}  // namespace

void find_units(Burst& burst, RowMask rows, const LoadedSet& set, const CoreState& core) noexcept {
    if (burst.unit_parser() == nullptr || rows == 0) {
        return;
    }
    BurstUnits& units = burst.begin_units();
    RowMask several = 0;
    for_each_row(rows, [&](std::size_t row) {
        if (!units.find(row, {burst.headers_of(row), burst.frame(row), set.meter_plan.texts})) {
            refuse(burst, row);
        } else if (units.count(row) != 0) {
            const BurstUnits::Unit& first = units.unit(row, 0);
            burst.set_unit(row, first.kind, first.texts);
            several |= units.count(row) > 1 ? row_bit(row) : 0;
            units.add_further(burst, row);
        }
    });
    for (std::size_t event = 0; event < kUnitEventCount; ++event) {
        core.counters.by_unit_event[event].add(units.events()[event]);
    }
    burst.set_several(several);
    for (Burst& further : units.further()) {
        parse_burst(further, core);
        geo_burst(further, set);
        units.set_texts(further);
    }
}

}  // namespace sluice
