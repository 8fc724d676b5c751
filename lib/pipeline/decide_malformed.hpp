#pragma once
#include "lib/load/meter_plan.hpp"
#include "lib/packet/packet_headers.hpp"
#include "lib/pipeline/core_state.hpp"
#include "lib/rules/decision.hpp"

namespace sluice {

// What becomes of a malformed packet, which no rule sees.
[[nodiscard]] Decision decide_malformed(Parsed parsed, const PacketPolicy& policy) noexcept;

// What an enforcing rule with on_match says.
[[nodiscard]] inline Decision decision_on_sight(const RulePlan& plan, std::uint32_t rule) noexcept {
    return {.verdict = plan.match_verdict,
            .reason = forwards(plan.match_verdict) ? Reason::AllowRule : Reason::DenyRule,
            .action = plan.match_action,
            .rule = rule};
}

}  // namespace sluice
