#pragma once
#include "lib/base/units.hpp"
#include "lib/packet/verdict.hpp"
#include "lib/respond/action.hpp"

#include <cstdint>

namespace sluice {

inline constexpr std::uint32_t kNoRule = 0xFFFF'FFFF;

// The decision on one packet, and why.
struct Decision {
    Verdict verdict = Verdict::Pass;
    Reason reason = Reason::Unmatched;
    std::uint8_t key = 0;              // of that rule: the one whose limit refused, else the first
    std::uint8_t limit = 0;            // of that rule: the one that refused, where waits are told
    ActionIndex action = kPassAction;  // row of RuleSet::actions with this verdict
    std::uint32_t rule = kNoRule;      // index in the rule set, if a rule made the verdict
    Nanoseconds wait{};                // longest wait among the refusing enforcing limits; kNever
};
static_assert(sizeof(Decision) == 24, "three words: a burst's decisions are written in few stores");

// True if a reason says more than another, for packets that no rule has refused: that a limit had
// room comes before that the key is exempt, and both before that nothing judged the packet.
[[nodiscard]] constexpr bool says_more(Reason reason, Reason other) noexcept {
    return (reason == Reason::WithinLimits && other != Reason::WithinLimits) ||
           (reason == Reason::Exempt && other == Reason::Unmatched);
}

// A drop that no rule has decided.
[[nodiscard]] constexpr Decision dropped_for(Reason reason) noexcept {
    return {.verdict = Verdict::Drop, .reason = reason, .action = kDropAction};
}

}  // namespace sluice
