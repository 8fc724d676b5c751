#pragma once
#include "lib/packet/flow.hpp"
#include "lib/pipeline/core_state.hpp"
#include "lib/rules/decision.hpp"

namespace sluice {

// What becomes of a malformed packet, which no rule sees.
[[nodiscard]] Decision decide_malformed(Parsed parsed, const PacketPolicy& policy) noexcept;

// What an enforcing rule with on_match says.
[[nodiscard]] inline Decision decision_on_sight(std::uint32_t rule, bool allow) noexcept {
    return {.verdict = allow ? Verdict::Pass : Verdict::Drop,
            .reason = allow ? Reason::AllowRule : Reason::DenyRule,
            .rule = rule};
}

}  // namespace sluice
