#include "lib/engine/decide/shaping.hpp"

#include "lib/bucket/meter/bucket_in.hpp"
#include "lib/bucket/meter/gcra.hpp"
#include "lib/engine/check/ask_bucket.hpp"
#include "lib/engine/check/wait_of.hpp"

#include <algorithm>
#include <optional>
#include <variant>

namespace sluice {

void note_departure(LimitCheck& check, const LoadedLimit& limit, const CheckContext& context,
                    RuleOutcome& outcome) noexcept {
    const std::optional<Nanoseconds> delay = delay_of(check, context);
    const bool in_time = delay.has_value() && *delay <= outcome.shape->max_delay;
    outcome.in_time &= in_time;
    if (!delay || *delay == Nanoseconds{0}) {
        return;
    }
    check.reserved = in_time && !is_admitted(check.conformance);
    check.conformance = in_time ? check.conformance : Conformance::Red;
    if (!outcome.refused) {
        outcome.key = limit.key;
        outcome.limit = &limit;
    }
    outcome.holder = *delay > outcome.delay ? &limit : outcome.holder;
    outcome.delay = std::max(outcome.delay, *delay);
    outcome.refused = true;
    outcome.over_limit = true;
    outcome.exceeded = true;
}

void note_delay(Match& match, const RuleOutcome& outcome, const MatchedRules& evaluated) noexcept {
    const LoadedRule& rule = evaluated.rule(match);
    if (outcome.can_be_held() && (rule.candidate || evaluated.context.core.hold_capacity != 0) &&
        evaluated.acts_in_place(rule)) {
        match.delay = outcome.delay;
        return;
    }
    match.overflowed = outcome.refused;
    for (LimitCheck& check : evaluated.checks(match)) {
        check.reserved = false;
    }
}

Weight weight_of_refusal(const Match& match, const LoadedRule& rule, const RuleOutcome& outcome,
                         const Weight& weight) noexcept {
    if (outcome.shape == nullptr) {
        return weight;
    }
    if (match.delay != Nanoseconds{0}) {
        const auto at = static_cast<std::uint8_t>(outcome.holder - rule.limits.data());
        return {weight.action, weight.reason, outcome.holder->key, at};
    }
    const bool passes = outcome.shape->overflow == Verdict::Pass;
    return {passes ? kPassAction : kDropAction,
            outcome.can_be_held() ? Reason::HoldFull : weight.reason, weight.key, weight.limit};
}

// A bucket that would be full before that owes from then on; one that is not is charged as ever,
// to the part of a ns.
void commit_departure(LimitCheck& check, const CheckContext& context, Nanoseconds delay,
                      bool is_held) noexcept {
    if (!is_admitted(check.conformance) && !check.reserved) {
        check.entry->release();
        return;
    }
    BucketStore& store = context.core.buckets;
    const Limit& limit = *gcra_of(*check.numbers);
    const Instant now = context.now.at;
    const Instant leaves = now + delay;
    Cell cell = store.registry.cell_of(*check.entry);
    Gcra bucket = bucket_in(cell, limit);
    charge(bucket, limit, bucket.fresh_from < leaves ? leaves : now, check.cost);
    put_bucket(cell, bucket, limit);
    store.registry.write(*check.entry, cell, context.now);
    if (check.entry->stamp().aggregation_level != 0) [[unlikely]] {
        store.note_parent(*check.entry);
    }
    check.entry->release();
    const bool leaky = std::holds_alternative<LeakyBucketLimit>(*check.numbers);
    const Instant next = leaky ? bucket.fresh_from : leaves;
    if (is_held && !context.core.held_order.note(held_id(check.key), next, now)) [[unlikely]] {
        count_event(context, TableEvent::HeldOrderLost);
    }
}

}  // namespace sluice
