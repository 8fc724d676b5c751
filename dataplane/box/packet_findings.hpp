#pragma once
#include "lib/engine/burst/burst_units.hpp"
#include "lib/engine/check/ask_bucket.hpp"
#include "lib/engine/worker/packet_asker.hpp"
#include "lib/wire/packet_messages.hpp"

namespace sluice {

// Findings of a worker about a packet that has not come, as messages have them.
[[nodiscard]] inline DecisionState state_of(const Decision& decision) {
    return {.verdict = decision.verdict,
            .reason = decision.reason,
            .rule = decision.rule,
            .limit = decision.limit,
            .action = decision.action,
            .wait_ns = decision.wait.count()};
}

[[nodiscard]] inline FoundLimit state_of(const LimitFinding& found) {
    return {.rule = found.rule,
            .limit = found.limit,
            .unit = found.unit,
            .asked = found.asked,
            .admitted = found.asked && is_admitted(found.conformance),
            .charged = found.charged,
            .at_owner = found.at_owner,
            .has_bucket = found.has_bucket,
            .aggregation_level = found.aggregation_level,
            .cost = found.cost.count(),
            .remaining = found.remaining.count(),
            .wait_ns = found.wait.count()};
}

[[nodiscard]] inline FoundBan state_of(const BanFinding& found) {
    return {.rule = found.rule,
            .key = found.key,
            .unit = found.unit,
            .refusals = found.refusals.count(),
            .after = found.after.count(),
            .left_ns = found.left.count()};
}

// Adds what a worker has found about the asker's packet.
inline void add_findings(const PacketAsker& asker, const DryRun& run, PacketState& state) {
    state.decision = state_of(run.decision);
    for (const LimitFinding& found : asker.limits(run)) {
        state.limits.push_back(state_of(found));
    }
    for (const BanFinding& found : asker.bans(run)) {
        state.bans.push_back(state_of(found));
    }
    const BurstUnits* const units = asker.burst().units();
    const bool several = run.findings + run.bans != 0 && has_row(asker.burst().several(), 0);
    for (std::size_t i = 0; several && i < units->count(0); ++i) {
        state.units.push_back(state_of(units->decision(0, i)));
    }
}

}  // namespace sluice
