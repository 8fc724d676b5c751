#pragma once
#include "lib/engine/decide/decide_general.hpp"
#include "lib/engine/decide/rule_outcome.hpp"

// The action `shape` where the limits of a rule are asked: a packet that they have no room for is
// held until they have, if no limit holds it for longer than `max_delay` and the worker has room to
// hold it; else `overflow` decides. A packet that is held is charged for its departure at once:
// each limit of each rule that shapes as of the one instant at which it departs, the latest of all.
// So each limit's bound holds for what departs, and what comes later departs behind it, of every
// one of its keys (HeldOrder), whatever delays it and whatever numbers a reload has brought
// meanwhile.
namespace sluice {

// A limit that holds the packet has refused it, be it that there is room for it in a queue.
void note_departure(LimitCheck& check, const LoadedLimit& limit, const CheckContext& context,
                    RuleOutcome& outcome) noexcept;

// Notes whether the packet waits for its departure, and for how long (match.delay). A packet that
// cannot spends nothing of this rule's limits, and no more does one that a monitoring rule would
// hold. A candidate of one that acts has room for all that it would hold, and holds nothing.
void note_delay(Match& match, const RuleOutcome& outcome, const MatchedRules& evaluated) noexcept;

// The weight of the rule's refusal: `weight`, unless it shapes; of a packet that is to be held and
// cannot be, its overflow.
[[nodiscard]] Weight weight_of_refusal(const Match& match, const LoadedRule& rule,
                                       const RuleOutcome& outcome, const Weight& weight) noexcept;

// Charges a look of a rule that shapes, which its packet has been held for, if it was admitted or
// reserved; ends the hold. What a candidate would hold (`is_held` false) stands in nobody's way.
void commit_departure(LimitCheck& check, const CheckContext& context, Nanoseconds delay,
                      bool is_held) noexcept;

}  // namespace sluice
