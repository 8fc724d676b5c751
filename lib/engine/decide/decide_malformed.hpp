#pragma once
#include "lib/engine/burst/core_state.hpp"
#include "lib/l7/stream/loaded_services.hpp"
#include "lib/packet/packet_headers.hpp"
#include "lib/respond/decision.hpp"
#include "lib/rules/load/meter_plan.hpp"

namespace sluice {

// The decision on a malformed packet, which no rule sees.
[[nodiscard]] Decision decide_malformed(Parsed parsed, const PacketPolicy& policy) noexcept;

// A packet nested too deep may end at a service, whose protocol nobody has read then: where one
// enforces it is refused whatever the policy says, and where one monitors it would be. What else is
// malformed no server takes.
void refuse_too_deep(const LoadedServices& services, const CoreState& core,
                     Decision& decision) noexcept;

// The decision of an enforcing rule with on_match.
[[nodiscard]] inline Decision decision_on_sight(const RulePlan& plan, std::uint32_t rule) noexcept {
    return {.verdict = plan.match_verdict,
            .reason = forwards(plan.match_verdict) ? Reason::AllowRule : Reason::DenyRule,
            .action = plan.match_action,
            .rule = rule};
}

}  // namespace sluice
