#include "lib/pipeline/decide_general.hpp"

#include "lib/pipeline/decide_malformed.hpp"
#include "lib/pipeline/key_policy.hpp"
#include "lib/pipeline/penalty_box.hpp"

#include <algorithm>
#include <optional>

// The verdict, exactly as the rule language defines it:
//
//   bypass?     -> the first budget that matches and has room
//   on_match?   -> the first such enforcing rule that matches
//   else        -> look at every limit of every matching rule, take the strictest refusal,
//                  and if the packet goes on, charge every limit that admitted it
//
// Packet by packet, in arrival order: what one packet spends, the next one sees.
namespace sluice {
namespace {

// Whether a rule with on_match has decided. Monitor ones only count.
bool decide_on_sight(const MatchedRules& judged, Decision& decision) noexcept {
    for (const Match& match : judged.matches) {
        const LoadedRule& rule = judged.rule(match);
        if (rule.on_match == OnMatch::Meter) {
            continue;
        }
        const Verdict verdict = judged.verdict_of(rule.match_action);
        const bool allow = forwards(verdict);
        RuleCounters& counters = judged.counters(match);
        (allow ? counters.admitted : counters.exceeded).add(1);
        if (rule.mode == Mode::Enforce) {
            decision =
                decision_on_sight(judged.context.set.meter_plan.rules[match.rule], match.rule);
            return true;
        }
    }
    return false;
}

// What the limits of one rule said.
struct Outcome {
    bool judged = false;         // at least one limit counts this packet
    bool refused = false;        // by a limit, or by what its colour means
    bool over_limit = false;     // refused by a limit, not for want of a place
    bool no_credit = false;      // refused since this worker is too far ahead of the key's owner
    bool exceeded = false;       // on_exceed applies
    bool banned = false;         // the key is: no limit was asked
    bool colored = false;        // on_color applies
    Color color = Color::Green;  // the worst of its colour meters
    Nanoseconds wait{};          // the longest of the refusing limits, or the rest of the ban
    std::uint8_t key = 0;        // of the limit with that wait, the first of equals; or the banned
};

void note_refusal(const LimitCheck& check, const LoadedLimit& limit, const CheckContext& context,
                  Outcome& outcome) noexcept {
    if (!outcome.refused) {
        outcome.key = limit.key;
    }
    outcome.refused = true;
    if (check.entry == nullptr || check.conformance == Conformance::NoRoom) {
        outcome.no_credit |= check.entry != nullptr && limit.shared != 0;
        return;
    }
    outcome.over_limit = true;
    if (!context.core.policy.tell_wait) {
        return;
    }
    const Demand demand{check.cost, context.color()};
    const std::optional<Nanoseconds> needed =
        wait(context.core.buckets.registry.cell_of(*check.entry), *check.numbers,
             context.core.buckets.registry.pool(), context.now, demand);
    if (needed.value_or(kNever) > outcome.wait) {
        outcome.wait = needed.value_or(kNever);
        outcome.key = limit.key;
    }
}

void check_counted(LimitCheck& check, const LoadedLimit& limit, const LoadedRule& rule,
                   const MatchedRules& judged, Outcome& outcome) noexcept {
    check.asked = check.cost != Units{0};
    if (!check.asked) {
        return;  // nothing to count: not judged, and nothing to spend
    }
    outcome.judged = true;
    check_limit(check, limit, rule, judged.context);
    const bool refused =
        check.conformance == Conformance::Red || check.conformance == Conformance::NoRoom;
    if (refused) {
        note_refusal(check, limit, judged.context, outcome);
    }
    if (algorithm_of(limit.limit) == Algorithm::ColorMeter) [[unlikely]] {
        const Color color = refused                                    ? Color::Red
                            : check.conformance == Conformance::Yellow ? Color::Yellow
                                                                       : Color::Green;
        outcome.color = std::max(outcome.color, color);
        outcome.colored = true;
    } else {
        outcome.exceeded |= refused;
    }
}

// A rule whose limits are not asked, since a key is exempt or banned.
Outcome without_limits(const KeyPolicy& policy, const Match& match,
                       const MatchedRules& judged) noexcept {
    Outcome outcome;
    if (!is_banned(policy.status)) {
        judged.counters(match).exempted.add(1);
        return outcome;
    }
    judged.bans(match).met.add(1);
    outcome.judged = true;
    outcome.refused = true;
    outcome.exceeded = true;
    outcome.banned = true;
    outcome.wait = policy.left;
    outcome.key = policy.key;
    return outcome;
}

Outcome check_limits(const Match& match, const LoadedRule& rule,
                     const MatchedRules& judged) noexcept {
    Outcome outcome;
    std::size_t at = 0;
    for (LimitCheck& check : judged.checks(match)) {
        check_counted(check, rule.limits[at++], rule, judged, outcome);
    }
    if (outcome.colored) [[unlikely]] {
        const ActionIndex action = rule.on_color[static_cast<std::size_t>(outcome.color)];
        outcome.refused |= !forwards(judged.verdict_of(action));
        outcome.over_limit |= !forwards(judged.verdict_of(action));
    }
    return outcome;
}

[[gnu::noinline]] Outcome check_keys_slow(const Match& match, const LoadedRule& rule,
                                          const MatchedRules& judged) noexcept {
    const std::span<LimitCheck> checks = judged.checks(match);
    const CheckContext& context = judged.context;
    const RuleKeys keys{rule, checks, context};
    const KeyPolicy policy = apply_policy(keys, checks, context.core, context.now);
    if (policy.status != KeyStatus::Limited) {
        return without_limits(policy, match, judged);
    }
    const Outcome outcome = check_limits(match, rule, judged);
    if (outcome.over_limit && rule.bans()) {
        const bool yellow = outcome.colored && !forwards(judged.verdict_of(rule.on_color[1]));
        const PenaltyBoxes boxes{keys, context.core, context.now};
        judged.bans(match).begun.add(boxes.note(checks, yellow, context));
    }
    return outcome;
}

Outcome check_rule(const Match& match, const MatchedRules& judged) noexcept {
    const LoadedRule& rule = judged.rule(match);
    if (rule.asks_keys) [[unlikely]] {
        return check_keys_slow(match, rule, judged);
    }
    return check_limits(match, rule, judged);
}

struct Weight {
    ActionIndex action;
    Reason reason;
    std::uint8_t key;
};

// The strictest decides, the first of equals.
void weigh(const Match& match, const Weight& weight, const MatchedRules& judged,
           Decision& decision) noexcept {
    const Verdict verdict = judged.verdict_of(weight.action);
    if (decision.rule != kNoRule && decision.verdict >= verdict) {
        return;
    }
    decision.verdict = verdict;
    decision.reason = weight.reason;
    decision.key = weight.key;
    decision.rule = match.rule;
    decision.action = weight.action;
}

// What an enforcing rule makes of a packet.
void decide(const Match& match, const MatchedRules& judged, const Outcome& outcome,
            Decision& decision) noexcept {
    const LoadedRule& rule = judged.rule(match);
    const Reason refusal = outcome.banned       ? Reason::Banned
                           : outcome.over_limit ? Reason::OverLimit
                           : outcome.no_credit  ? Reason::NoCredit
                                                : Reason::TableFull;
    if (outcome.refused) {
        decision.wait = std::max(decision.wait, outcome.wait);
    } else if (outcome.judged && decision.rule == kNoRule) {
        decision.reason = Reason::WithinLimits;
    }
    if (outcome.banned && rule.bans()) [[unlikely]] {
        weigh(match, {rule.ban.action, refusal, outcome.key}, judged, decision);
    } else if (outcome.exceeded) {
        weigh(match, {rule.on_exceed, refusal, outcome.key}, judged, decision);
    }
    if (outcome.colored) [[unlikely]] {
        const ActionIndex action = rule.on_color[static_cast<std::size_t>(outcome.color)];
        // A colour that only passes is no refusal; a tag, or red, is this rule's doing.
        if (judged.verdict_of(action) != Verdict::Pass || outcome.refused) {
            const Reason reason = outcome.refused ? refusal : Reason::WithinLimits;
            weigh(match, {action, reason, outcome.key}, judged, decision);
        }
    }
}

void check_all(const MatchedRules& judged, Decision& decision) noexcept {
    for (Match& match : judged.matches) {
        const LoadedRule& rule = judged.rule(match);
        if (rule.on_match != OnMatch::Meter) {
            continue;
        }
        if (match.skipped) {
            judged.counters(match).skipped.add(1);
            continue;
        }
        const Outcome outcome = check_rule(match, judged);
        match.refused = outcome.refused;
        (outcome.refused ? judged.counters(match).exceeded : judged.counters(match).admitted)
            .add(1);
        if (rule.mode == Mode::Enforce) {
            decide(match, judged, outcome, decision);
        }
    }
    if (forwards(decision.verdict)) {
        decision.wait = Nanoseconds{0};
    }
}

// Ends what check_rule() began.
void commit_rule(const Match& match, const MatchedRules& judged, bool spends) noexcept {
    const bool empties = !spends && judged.rule(match).rejected_spend;
    for (LimitCheck& check : judged.checks(match)) {
        if (check.asked && check.entry != nullptr) {
            commit(check, judged.context, spends, empties);
        }
    }
}

void commit_all(const MatchedRules& judged, const Decision& decision) noexcept {
    const bool forwarded = forwards(decision.verdict);
    for (const Match& match : judged.matches) {
        const LoadedRule& rule = judged.rule(match);
        if (rule.on_match != OnMatch::Meter || match.skipped) {
            continue;
        }
        // A monitoring rule spends as it would if it enforced: not when it would have refused.
        commit_rule(match, judged, forwarded && (rule.mode == Mode::Enforce || !match.refused));
    }
}

// Whether the packet is within that budget, which is then charged.
bool is_within(Match& budget, const MatchedRules& judged) noexcept {
    RuleCounters& counters = judged.counters(budget);
    const Outcome outcome = budget.skipped ? Outcome{} : check_rule(budget, judged);
    if (!outcome.judged) {
        counters.skipped.add(1);
        return false;
    }
    budget.refused = outcome.refused;
    commit_rule(budget, judged, !outcome.refused);
    (outcome.refused ? counters.exceeded : counters.admitted).add(1);
    return !outcome.refused;
}

// Budgets come before all rules. True: the packet is within one. False: it meets the rules, and
// `judged` has no budgets any more.
bool pass_by(MatchedRules& judged, Decision& decision) noexcept {
    while (!judged.matches.empty() &&
           judged.rule(judged.matches.front()).on_match == OnMatch::Bypass) {
        Match& budget = judged.matches.front();
        if (is_within(budget, judged)) {
            decision = {.reason = Reason::Bypass, .rule = budget.rule};
            return true;
        }
        judged.matches = judged.matches.subspan(1);
    }
    return false;
}

}  // namespace

Decision decide_general(MatchedRules judged) noexcept {
    Decision decision;
    if (pass_by(judged, decision) || decide_on_sight(judged, decision)) {
        return decision;
    }
    check_all(judged, decision);
    commit_all(judged, decision);
    return decision;
}

}  // namespace sluice
