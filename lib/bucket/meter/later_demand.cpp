#include "lib/bucket/meter/later_demand.hpp"

#include "lib/bucket/meter/color_meter.hpp"

#include <variant>

namespace sluice {
namespace {

// A copy of a colour meter, once all that comes before has been charged to it. In any order:
// charges of one instant add up.
ColorMeter charged(const ColorMeter& meter, const ColorLimit& limit, Instant now,
                   const ChargedBefore& before) noexcept {
    ColorMeter after = meter;
    after.charge(limit, now, {before.green, Conformance::Green});
    after.charge(limit, now, {before.yellow, Conformance::Yellow});
    return after;
}

// All other meters count units: they admit one cost after another as they admit both at once.
Demand together(const LaterDemand& later) noexcept {
    return {later.before.all() + later.demand.cost, later.demand.color, later.demand.connection,
            later.demand.value};
}

}  // namespace

Conformance check_later(Cell& cell, const AnyLimit& limit, LinePool& pool, Now now,
                        const LaterDemand& later) noexcept {
    if (const auto* colors = std::get_if<ColorLimit>(&limit)) {
        return charged(pool.at<ColorMeter>(cell.rest), *colors, now.at, later.before)
            .check(*colors, now.at, later.demand);
    }
    return check(cell, limit, pool, now, together(later));
}

std::optional<Nanoseconds> wait_later(const Cell& cell, const AnyLimit& limit, const LinePool& pool,
                                      Now now, const LaterDemand& later) noexcept {
    if (const auto* colors = std::get_if<ColorLimit>(&limit)) {
        return charged(pool.at<ColorMeter>(cell.rest), *colors, now.at, later.before)
            .wait(*colors, now.at, later.demand);
    }
    return wait(cell, limit, pool, now, together(later));
}

}  // namespace sluice
