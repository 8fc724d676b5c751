#include "lib/meter/gcra.hpp"
#include "lib/pipeline/stages.hpp"

#include <algorithm>
#include <span>

// The verdict, exactly as the rule language defines it:
//
//   malformed?  -> the box's policy
//   on_match?   -> the first such enforcing rule that matches
//   else        -> look at every limit of every matching rule, take the strictest refusal,
//                  and if the packet goes on, charge every limit that admitted it
//
// Packet by packet, in arrival order: what one packet spends, the next one sees.
namespace sluice {
namespace {

// The rules that match one packet, and where their looks lie.
struct Judged {
    const RuleSet& set;
    CoreState& core;
    Instant now;
    std::span<Match> matches;

    [[nodiscard]] const Rule& rule(const Match& match) const noexcept {
        return set.rules[match.rule];
    }
    [[nodiscard]] RuleCounters& counters(const Match& match) const noexcept {
        return core.counters.rules[rule(match).counters];
    }
    [[nodiscard]] std::span<Look> looks(const Match& match) const noexcept {
        return {&core.scratch.looks[match.first], rule(match).limits.size()};
    }
};

const Limit& gcra_of(const MeteredLimit& limit) noexcept {
    return std::get<TokenBucketLimit>(limit.limit).gcra;
}

Reason malformed_reason(Parsed parsed) noexcept {
    switch (parsed) {
        case Parsed::TruncatedL2:
            return Reason::TruncatedL2;
        case Parsed::TruncatedL3:
            return Reason::TruncatedL3;
        case Parsed::TruncatedL4:
            return Reason::TruncatedL4;
        case Parsed::BadIpHeader:
            return Reason::BadIpHeader;
        case Parsed::BadL4Header:
            return Reason::BadL4Header;
        default:
            return Reason::TooDeep;
    }
}

// Whether a rule with on_match has decided. Monitor ones only count.
bool decide_on_sight(const Judged& judged, Decision& decision) noexcept {
    for (const Match& match : judged.matches) {
        const Rule& rule = judged.rule(match);
        if (rule.on_match == OnMatch::Meter) {
            continue;
        }
        const bool allow = rule.on_match == OnMatch::Allow;
        RuleCounters& counters = judged.counters(match);
        (allow ? counters.admitted : counters.exceeded).add(1);
        if (rule.mode == Mode::Enforce) {
            decision = {.verdict = allow ? Verdict::Pass : Verdict::Drop,
                        .reason = allow ? Reason::AllowRule : Reason::DenyRule,
                        .rule = match.rule};
            return true;
        }
    }
    return false;
}

// What the limits of one rule said.
struct Outcome {
    bool judged = false;  // at least one limit counts this packet
    bool refused = false;
    bool over_limit = false;  // refused by a limit, not for want of a place
    Nanoseconds wait{};       // the longest of the refusing limits
};

void look_at(Look& look, const MeteredLimit& limit, const Judged& judged, OnFull on_full,
             Outcome& outcome) noexcept {
    if (look.cost == Units{0}) {
        look.admitted = false;  // nothing to count: not judged, and nothing to spend
        return;
    }
    outcome.judged = true;
    look.place = judged.core.buckets.look(look.key, judged.now);
    if (!look.place.found()) {
        judged.core.counters.table_full.add(1);
        look.admitted = on_full == OnFull::Open;
        outcome.refused |= !look.admitted;
        return;
    }
    const Gcra bucket = judged.core.buckets.read(look.place);
    look.admitted = admits(bucket, gcra_of(limit), judged.now, look.cost);
    if (!look.admitted) {
        outcome.refused = true;
        outcome.over_limit = true;
        outcome.wait = std::max(
            outcome.wait, wait(bucket, gcra_of(limit), judged.now, look.cost).value_or(kNever));
    }
}

Outcome look_at_rule(const Match& match, const Judged& judged) noexcept {
    const Rule& rule = judged.rule(match);
    Outcome outcome;
    std::size_t at = 0;
    for (Look& look : judged.looks(match)) {
        look_at(look, rule.limits[at++], judged, rule.on_full, outcome);
    }
    return outcome;
}

// A refusal of an enforcing rule: the strictest decides, the first of equals.
void weigh(const Match& match, const Rule& rule, const Outcome& outcome,
           Decision& decision) noexcept {
    decision.wait = std::max(decision.wait, outcome.wait);
    if (decision.rule != kNoRule && decision.verdict >= rule.on_exceed) {
        return;
    }
    decision.verdict = rule.on_exceed;
    decision.reason = outcome.over_limit ? Reason::OverLimit : Reason::TableFull;
    decision.rule = match.rule;
}

void look_at_all(const Judged& judged, Decision& decision) noexcept {
    for (Match& match : judged.matches) {
        const Rule& rule = judged.rule(match);
        if (rule.on_match != OnMatch::Meter) {
            continue;
        }
        if (match.skipped) {
            judged.counters(match).skipped.add(1);
            continue;
        }
        const Outcome outcome = look_at_rule(match, judged);
        match.refused = outcome.refused;
        (outcome.refused ? judged.counters(match).exceeded : judged.counters(match).admitted)
            .add(1);
        if (rule.mode != Mode::Enforce) {
            continue;
        }
        if (outcome.refused) {
            weigh(match, rule, outcome, decision);
        } else if (outcome.judged && decision.rule == kNoRule) {
            decision.reason = Reason::WithinLimits;
        }
    }
    if (forwards(decision.verdict)) {
        decision.wait = Nanoseconds{0};
    }
}

// Charges what `spends`, and ends the hold on every bucket that was looked at.
void settle(const Match& match, const Judged& judged, bool spends) noexcept {
    BucketTable& buckets = judged.core.buckets;
    std::size_t at = 0;
    for (const Look& look : judged.looks(match)) {
        const Limit& limit = gcra_of(judged.rule(match).limits[at++]);
        if (!look.place.found()) {
            continue;
        }
        if (spends && look.admitted) {
            Gcra bucket = buckets.read(look.place);
            charge(bucket, limit, judged.now, look.cost);
            buckets.write(look.place, bucket);
        }
        buckets.release(look.place);
    }
}

void settle_all(const Judged& judged, const Decision& decision) noexcept {
    const bool forwarded = forwards(decision.verdict);
    for (const Match& match : judged.matches) {
        const Rule& rule = judged.rule(match);
        if (rule.on_match != OnMatch::Meter || match.skipped) {
            continue;
        }
        // A monitoring rule spends as it would if it enforced: not when it would have refused.
        const bool own = rule.mode == Mode::Enforce || !match.refused;
        settle(match, judged, forwarded && own);
    }
}

void judge(Packet& packet, const Judged& judged) noexcept {
    if (is_malformed(packet.flow.parsed)) {
        const bool drop = judged.core.policy.malformed == MalformedPolicy::Drop;
        packet.decision = {.verdict = drop ? Verdict::Drop : Verdict::Pass,
                           .reason = malformed_reason(packet.flow.parsed)};
        return;
    }
    if (decide_on_sight(judged, packet.decision)) {
        return;
    }
    look_at_all(judged, packet.decision);
    settle_all(judged, packet.decision);
}

}  // namespace

void meter_burst(Burst& burst, const RuleSet& set, CoreState& core, Instant now) noexcept {
    std::size_t row = 0;
    for (Packet& packet : burst.packets()) {
        const MatchSpan span = core.scratch.spans[row++];
        Match* first = &core.scratch.matches[span.first];
        judge(packet, {.set = set, .core = core, .now = now, .matches = {first, span.count}});
    }
}

}  // namespace sluice
