#include "lib/engine/decide/mark_refused.hpp"

#include "lib/engine/burst/burst.hpp"

namespace sluice {
namespace {

// A colour meter has no room where its action for the colour keeps the packet back. A packet that
// waits in a queue which has room for it is held, and not refused.
bool has_refused(const LimitCheck& check, const LoadedLimit& limit, const LoadedRule& rule,
                 const LoadedSet& set) noexcept {
    if (!check.asked) {
        return false;
    }
    const bool yellow = check.conformance == Conformance::Yellow &&
                        algorithm_of(limit.limit) == Algorithm::ColorMeter;
    return check.conformance == Conformance::Red || check.conformance == Conformance::NoRoom ||
           (yellow && !forwards(set.actions[rule.on_color[1]].verdict));
}

void mark_limits(const EvaluatedUnit& unit, const Match& match, const PacketChecks& packet,
                 const LoadedSet& set) noexcept {
    const Scratch& scratch = unit.burst->scratch();
    const LoadedRule& rule = set.rules[match.rule];
    for (const BucketLookup& lookup : scratch.lookups_of(unit.row)) {
        const LimitPlan& plan = set.meter_plan.limits[lookup.limit];
        if (plan.rule == match.rule && plan.meter != FastMeter::Penalty) {
            scratch.refuses_in(lookup) = has_refused(packet.checks[match.first + plan.index],
                                                     rule.limits[plan.index], rule, set);
        }
    }
}

}  // namespace

void mark_refused(const PacketChecks& packet, const LoadedSet& set, bool watched) noexcept {
    for (const EvaluatedUnit& unit : packet.units) {
        Scratch& scratch = unit.burst->scratch();
        for (const Match& match : unit.matches) {
            if (match.refused) {
                scratch.rules[scratch.active_of[match.rule]].refused |= row_bit(unit.row);
                if (watched) {
                    mark_limits(unit, match, packet, set);
                }
            }
        }
    }
}

}  // namespace sluice
