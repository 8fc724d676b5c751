#include "lib/pipeline/decide_general.hpp"

#include <algorithm>

// From what became of its units to what becomes of the packet, and the charges that follow.
namespace sluice {
namespace {

// A monitoring rule spends as it would if it enforced: not when it would have refused.
bool spends(const Match& match, const LoadedRule& rule) noexcept {
    return rule.on_match == OnMatch::Bypass ? match.passed
                                            : rule.mode == Mode::Enforce || !match.refused_any;
}

// Charges what admitted the unit, if its packet goes on; ends all holds.
void end_unit(const MatchedRules& judged, bool forwarded) noexcept {
    for (const Match& match : judged.matches) {
        const LoadedRule& rule = judged.rule(match);
        const bool spending = forwarded && spends(match, rule);
        const bool empties = !spending && rule.rejected_spend;
        for (LimitCheck& check : judged.checks(match)) {
            if (check.asked && check.entry != nullptr) {
                commit(check, judged.context, spending, empties);
            }
        }
    }
}

// Of two units of a packet the stricter verdict, of equals the one of the first rule in the file;
// a unit that some rule has judged comes before one that none has.
bool is_before(const Decision& decision, const Decision& other) noexcept {
    if (decision.verdict != other.verdict) {
        return decision.verdict > other.verdict;
    }
    if (decision.rule != other.rule) {
        return decision.rule < other.rule;
    }
    return decision.reason == Reason::WithinLimits && other.reason == Reason::Unmatched;
}

// A rule that refuses one unit of a packet refuses the packet.
void spread_refusals(const PacketLooks& packet) noexcept {
    for (const JudgedUnit& unit : packet.units) {
        for (Match& match : unit.matches) {
            match.refused_any = match.refused || (match.previous != 0 &&
                                                  packet.matches[match.previous - 1].refused_any);
        }
    }
    for (std::size_t left = packet.units.size(); left > 0; --left) {
        for (const Match& match : packet.units[left - 1].matches) {
            if (match.previous != 0) {
                packet.matches[match.previous - 1].refused_any |= match.refused_any;
            }
        }
    }
}

}  // namespace

Decision decide_general(const PacketLooks& packet, const LoadedSet& set, CoreState& core,
                        Now now) noexcept {
    const auto rules_of = [&](const JudgedUnit& unit) {
        return MatchedRules{.context = {.set = set,
                                        .core = core,
                                        .now = now,
                                        .frames = unit.burst->frames(),
                                        .headers = unit.burst->headers(),
                                        .row = unit.row,
                                        .checks = packet.checks},
                            .matches = unit.matches,
                            .all_matches = packet.matches,
                            .all_checks = packet.checks,
                            .kind = unit.kind};
    };
    JudgedUnit& first = packet.units.front();
    first.decision = decide_unit(rules_of(first));
    Decision decision = first.decision;
    for (JudgedUnit& unit : packet.units.subspan(1)) {
        unit.decision = decide_unit(rules_of(unit));
        const Nanoseconds wait = std::max(decision.wait, unit.decision.wait);
        decision = is_before(unit.decision, decision) ? unit.decision : decision;
        decision.wait = wait;
    }
    spread_refusals(packet);
    const bool forwarded = forwards(decision.verdict);
    for (const JudgedUnit& unit : packet.units) {
        end_unit(rules_of(unit), forwarded);
    }
    decision.wait = forwarded ? Nanoseconds{0} : decision.wait;
    return decision;
}

}  // namespace sluice
