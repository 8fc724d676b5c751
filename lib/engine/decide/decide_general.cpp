#include "lib/engine/decide/decide_general.hpp"

#include "lib/engine/check/ask_bucket.hpp"
#include "lib/engine/check/wait_of.hpp"
#include "lib/engine/decide/decide_malformed.hpp"
#include "lib/engine/decide/followed_check.hpp"
#include "lib/engine/decide/rule_outcome.hpp"
#include "lib/engine/decide/shaping.hpp"
#include "lib/engine/key/key_policy.hpp"
#include "lib/engine/key/penalty_box.hpp"
#include "lib/engine/key/source_ban.hpp"
#include "lib/engine/remote/asked_limit.hpp"

#include <algorithm>
#include <optional>

// The verdict, exactly as the rule language defines it:
//
//   bypass?     -> the first budget that matches and has room
//   banned?     -> the first rule that has banned its source for all traffic
//   on_match?   -> the first such enforcing rule that matches
//   else        -> look at every limit of every matching rule, take the strictest refusal,
//                  and if the packet goes on, charge every limit that admitted it
//
// Packet by packet, in arrival order: what one packet spends, the next one sees. Of a packet with
// several units each is judged so, in their order, as if what admitted the earlier ones had been
// charged; the strictest of their verdicts is the packet's, and all of them are charged or none.
namespace sluice {
namespace {

// True if a rule with on_match has decided. Monitor ones only count.
bool decide_on_sight(const MatchedRules& evaluated, Decision& decision) noexcept {
    for (Match& match : evaluated.matches) {
        const LoadedRule& rule = evaluated.rule(match);
        if (rule.on_match == OnMatch::Meter) {
            continue;
        }
        match.finding =
            forwards(evaluated.verdict_of(rule.match_action)) ? Finding::HasRoom : Finding::Refuses;
        match.counted = true;
        if (rule.mode == Mode::Enforce) {
            decision =
                decision_on_sight(evaluated.context.set.meter_plan.rules[match.rule], match.rule);
            return true;
        }
    }
    return false;
}

// Notes the answer on a limit whose owner has refused, or was not there.
void note_answer(const LimitCheck& check, const LoadedLimit& limit, const CheckContext& context,
                 RuleOutcome& outcome) noexcept {
    const AskContext& ask = context.ask;
    const Answer* const answer = ask.reserve_client->answer(ask.place, ask.unit, limit.slot);
    outcome.over_limit |= check.answered;
    outcome.no_answer |= answer == nullptr || (limit.asks_store.is_asked() && !check.answered);
    if (answer != nullptr && answer->wait > outcome.wait) {
        outcome.wait = answer->wait;
        outcome.key = limit.key;
        outcome.limit = &limit;
    }
}

void note_refusal(const LimitCheck& check, const LoadedLimit& limit, const CheckContext& context,
                  RuleOutcome& outcome) noexcept {
    if (!outcome.refused) {
        outcome.key = limit.key;
        outcome.limit = &limit;
    }
    outcome.refused = true;
    if (check.at_owner) [[unlikely]] {
        note_answer(check, limit, context, outcome);
        return;
    }
    if (check.entry == nullptr || check.conformance == Conformance::NoRoom) {
        const bool is_told = limit.shared != 0 || limit.cluster.box_unsynced != 0;
        outcome.no_credit |= check.entry != nullptr && is_told;
        return;
    }
    outcome.over_limit = true;
    if (!context.tells_wait) {
        return;
    }
    const std::optional<Nanoseconds> needed = wait_of(check, context);
    if (needed.value_or(kNever) > outcome.wait) {
        outcome.wait = needed.value_or(kNever);
        outcome.key = limit.key;
        outcome.limit = &limit;
    }
}

void check_counted(LimitCheck& check, const LoadedLimit& limit, const LoadedRule& rule,
                   const MatchedRules& evaluated, RuleOutcome& outcome) noexcept {
    if (algorithm_of(limit.limit) == Algorithm::Concurrency) [[unlikely]] {
        leave_out_followed(check, limit, evaluated.context);
    }
    check.asked = check.cost != Units{0};
    if (!check.asked) {
        return;  // nothing to count: not judged, and nothing to spend
    }
    outcome.evaluated = true;
    if (limit.asked && evaluated.context.ask.asks()) [[unlikely]] {
        check_asked(check, limit, rule, evaluated.context);
    } else {
        check_limit(check, limit, rule, evaluated.context);
    }
    const bool refused =
        check.conformance == Conformance::Red || check.conformance == Conformance::NoRoom;
    if (refused) {
        note_refusal(check, limit, evaluated.context, outcome);
        evaluated.count_refusal(rule, limit);
    }
    if (outcome.shape != nullptr) [[unlikely]] {
        note_departure(check, limit, evaluated.context, outcome);
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
RuleOutcome without_limits(const KeyPolicy& policy, const Match& match,
                           const MatchedRules& evaluated) noexcept {
    RuleOutcome outcome;
    outcome.shape = evaluated.shape_of(evaluated.rule(match));
    if (!is_banned(policy.status)) {
        outcome.exempt = true;
        return outcome;
    }
    if (!evaluated.context.ask.is_dry_run()) {
        evaluated.bans(match).banned.add(1);
    }
    outcome.evaluated = true;
    outcome.refused = true;
    outcome.exceeded = true;
    outcome.banned = true;
    outcome.wait = policy.left;
    outcome.key = policy.key;
    return outcome;
}

RuleOutcome check_limits(const Match& match, const LoadedRule& rule,
                         const MatchedRules& evaluated) noexcept {
    RuleOutcome outcome{.shape = evaluated.shape_of(rule)};
    std::size_t at = 0;
    for (LimitCheck& check : evaluated.checks(match)) {
        check_counted(check, rule.limits[at++], rule, evaluated, outcome);
    }
    if (outcome.colored) [[unlikely]] {
        const ActionIndex action = rule.on_color[static_cast<std::size_t>(outcome.color)];
        outcome.refused |= !forwards(evaluated.verdict_of(action));
        outcome.over_limit |= !forwards(evaluated.verdict_of(action));
    }
    return outcome;
}

[[gnu::noinline]] RuleOutcome check_keys_slow(const Match& match, const LoadedRule& rule,
                                              const MatchedRules& evaluated) noexcept {
    const std::span<LimitCheck> checks = evaluated.checks(match);
    const CheckContext& context = evaluated.context;
    const RuleKeys keys{rule, checks, context};
    const KeyPolicy policy = apply_policy(keys, checks, context.core, context.now);
    const bool passes_ban = is_banned(policy.status) && is_out_of_ban(rule, context);
    if (policy.status != KeyStatus::Limited && !passes_ban) {
        for (LimitCheck& check : checks) {
            check.asked = false;
        }
        return without_limits(policy, match, evaluated);
    }
    const RuleOutcome outcome = check_limits(match, rule, evaluated);
    if (outcome.over_limit && !outcome.can_be_held() && !passes_ban &&
        counts_refusals(rule, context)) {
        const bool yellow = outcome.colored && !forwards(evaluated.verdict_of(rule.on_color[1]));
        const PenaltyBoxes boxes{keys, context.core, context.now};
        evaluated.bans(match).bans.add(boxes.note(checks, yellow, context));
    }
    return outcome;
}

RuleOutcome check_rule(const Match& match, const MatchedRules& evaluated) noexcept {
    const LoadedRule& rule = evaluated.rule(match);
    if (rule.asks_keys) [[unlikely]] {
        return check_keys_slow(match, rule, evaluated);
    }
    return check_limits(match, rule, evaluated);
}

// The strictest decides, the first of equals.
void keep_stricter(const Match& match, const Weight& weight, const MatchedRules& evaluated,
                   Decision& decision) noexcept {
    const Verdict verdict = evaluated.verdict_of(weight.action);
    if (decision.rule != kNoRule && decision.verdict >= verdict) {
        return;
    }
    decision.verdict = verdict;
    decision.reason = weight.reason;
    decision.key = weight.key;
    decision.limit = weight.limit;
    decision.rule = match.rule;
    decision.action = weight.action;
}

// Decides a packet by a rule that acts.
void decide(const Match& match, const MatchedRules& evaluated, const RuleOutcome& outcome,
            Decision& decision) noexcept {
    const LoadedRule& rule = evaluated.rule(match);
    const Reason refusal = outcome.banned       ? Reason::Banned
                           : outcome.over_limit ? Reason::OverLimit
                           : outcome.no_credit  ? Reason::NoCredit
                           : outcome.no_answer  ? Reason::NoAnswer
                                                : Reason::TableFull;
    const auto limit = static_cast<std::uint8_t>(
        outcome.limit == nullptr ? 0 : outcome.limit - rule.limits.data());
    if (outcome.refused) {
        decision.wait = std::max(decision.wait, outcome.wait);
    } else if (outcome.evaluated || outcome.exempt) {
        decision.reason = outcome.evaluated ? Reason::WithinLimits : Reason::Exempt;
    }
    if (outcome.banned && rule.bans()) [[unlikely]] {
        keep_stricter(match, {rule.ban.action, refusal, outcome.key, limit}, evaluated, decision);
    } else if (outcome.exceeded) {
        const Weight weight{rule.on_exceed, refusal, outcome.key, limit};
        keep_stricter(match, weight_of_refusal(match, rule, outcome, weight), evaluated, decision);
    }
    if (outcome.colored) [[unlikely]] {
        const ActionIndex action = rule.on_color[static_cast<std::size_t>(outcome.color)];
        // A colour that only passes is no refusal; a tag, or red, is this rule's doing.
        if (evaluated.verdict_of(action) != Verdict::Pass || outcome.refused) {
            const Reason reason = outcome.refused ? refusal : Reason::WithinLimits;
            keep_stricter(match, {action, reason, outcome.key, limit}, evaluated, decision);
        }
    }
}

// Adds one rule's decision to that of the rules before it: the strictest verdict holds, the first
// of equals, and the longest wait.
void merge(const Decision& own, Decision& decision) noexcept {
    const Nanoseconds wait = std::max(decision.wait, own.wait);
    if (own.rule == kNoRule) {
        const bool tells = decision.rule == kNoRule && says_more(own.reason, decision.reason);
        decision.reason = tells ? own.reason : decision.reason;
    } else if (decision.rule == kNoRule || decision.verdict < own.verdict) {
        decision = own;
    }
    decision.wait = wait;
}

// True if the limit has counted a unit before this one, of which other readings are none.
bool has_counted(const LimitCheck& check, const MatchedRules& evaluated) noexcept {
    bool counted = false;
    for_each_earlier(check, evaluated.context, [&](const LimitCheck& earlier) {
        counted |= earlier.counted && &earlier < evaluated.all_checks + evaluated.checks_before;
    });
    return counted;
}

// The cost of other readings of the unit to the same key, so far; of a limit of different values,
// of those that show the same one.
Units cost_before(const LimitCheck& check, const LoadedLimit& limit,
                  const MatchedRules& evaluated) noexcept {
    Units cost{0};
    const bool has_value = needs_value(limit.limit);
    for_each_earlier(check, evaluated.context, [&](const LimitCheck& earlier) {
        const bool is_reading = &earlier >= evaluated.all_checks + evaluated.checks_before;
        const bool is_same = !has_value || earlier.shown_value() == check.shown_value();
        const bool counts =
            is_reading && is_same && earlier.counted && earlier.key.hash == check.key.hash;
        cost = cost + (counts ? earlier.cost : Units{0});
    });
    return cost;
}

// True if a rule has anything to judge in one of several units of a packet. Limits that count
// packets, bytes or connections count the packet once, in the first unit that the rule judges, by
// the keys of all of its readings; of one key, all limits count the readings of one unit once, at
// what the dearest of them costs.
bool counts_unit(Match& match, const MatchedRules& evaluated) noexcept {
    const LoadedRule& rule = evaluated.rule(match);
    const bool is_first = evaluated.counted_before(match) == nullptr;
    bool counts_kind = false;
    std::size_t at = 0;
    for (LimitCheck& check : evaluated.checks(match)) {
        const LoadedLimit& limit = rule.limits[at++];
        const Per per = limit.per;
        if (is_of_packet(per) && has_counted(check, evaluated)) {
            check.cost = Units{0};
        }
        const std::uint64_t before = cost_before(check, limit, evaluated).count();
        check.cost = Units{check.cost.count() - std::min(check.cost.count(), before)};
        check.counted = check.cost != Units{0};
        counts_kind |= check.counted ||
                       (match.skipped && per == evaluated.kind && !evaluated.is_repeated(match));
    }
    match.counted = is_first || counts_kind;
    return match.counted;
}

bool applies(Match& match, const MatchedRules& evaluated) noexcept {
    return evaluated.is_only || counts_unit(match, evaluated);
}

Finding finding_of(const RuleOutcome& outcome) noexcept {
    return outcome.refused     ? Finding::Refuses
           : outcome.exempt    ? Finding::IsExempt
           : outcome.evaluated ? Finding::HasRoom
                               : Finding::Nothing;
}

void check_all(const MatchedRules& evaluated, Decision& decision) noexcept {
    for (Match& match : evaluated.matches) {
        const LoadedRule& rule = evaluated.rule(match);
        if (rule.on_match != OnMatch::Meter || !applies(match, evaluated)) {
            continue;
        }
        match.finding = Finding::Nothing;
        if (match.skipped) {
            continue;
        }
        const RuleOutcome outcome = check_rule(match, evaluated);
        match.finding = finding_of(outcome);
        match.refused = outcome.refused;
        if (outcome.shape != nullptr) [[unlikely]] {
            note_delay(match, outcome, evaluated);
        }
        Decision own;
        decide(match, evaluated, outcome, own);
        const bool would_hold = outcome.can_be_held() && !evaluated.acts_in_place(rule);
        match.blocks = !forwards(own.verdict) && !would_hold;
        if (rule.mode == Mode::Enforce) {
            merge(own, decision);
        }
    }
}

// In a dry run: whether its owner decides.
bool is_open(const Match& budget, const MatchedRules& evaluated) noexcept {
    const std::span<LimitCheck> checks = evaluated.checks(budget);
    return evaluated.context.ask.is_dry_run() &&
           std::any_of(checks.begin(), checks.end(),
                       [](const LimitCheck& check) { return check.at_owner; });
}

// True if the unit is within that budget. One that has counted the packet already has room for this
// unit too if it had room for that one.
bool is_within(Match& budget, const MatchedRules& evaluated) noexcept {
    if (!applies(budget, evaluated)) {
        budget.passed = evaluated.counted_before(budget)->passed;
        return budget.passed;
    }
    const RuleOutcome outcome = budget.skipped ? RuleOutcome{} : check_rule(budget, evaluated);
    budget.finding = finding_of(outcome);
    if (!outcome.evaluated) {
        return false;
    }
    budget.refused = outcome.refused;
    budget.passed = !outcome.refused;
    // The owner's answer may not be known yet: the rules behind it are asked for as well.
    return budget.passed && !is_open(budget, evaluated);
}

// Budgets come before all rules. True: the unit is within one. False: it meets the rules, and
// `judged` has no budgets any more.
bool pass_by(MatchedRules& evaluated, Decision& decision) noexcept {
    while (!evaluated.matches.empty() &&
           evaluated.rule(evaluated.matches.front()).on_match == OnMatch::Bypass) {
        Match& budget = evaluated.matches.front();
        if (is_within(budget, evaluated)) {
            decision = {.reason = Reason::Bypass, .rule = budget.rule};
            return true;
        }
        evaluated.matches = evaluated.matches.subspan(1);
    }
    return false;
}

}  // namespace

Decision decide_unit(MatchedRules evaluated) noexcept {
    Decision decision;
    if (pass_by(evaluated, decision)) {
        return decision;
    }
    if (evaluated.context.ban != nullptr) [[unlikely]] {
        return *evaluated.context.ban;
    }
    if (!decide_on_sight(evaluated, decision)) {
        check_all(evaluated, decision);
    }
    return decision;
}

}  // namespace sluice
