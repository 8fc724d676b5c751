#pragma once
#include "lib/meter/take.hpp"
#include "lib/pipeline/burst.hpp"
#include "lib/pipeline/core_state.hpp"
#include "lib/rules/rule_set.hpp"

#include <span>

// The short way for what most packets meet: enforcing rules of one token bucket each, whose entries
// are where they were seen. Decides and charges in one step, so nothing need be held.
namespace sluice {

// What the packets of a burst are judged with.
struct PlainJudging {
    const RuleSet& set;
    Scratch& scratch;
    CoreState& core;
    Now now;
    bool stale;  // entries may carry former numbers: theirs are looked at
};

// A rule that matches, and its one look.
struct PlainMatch {
    const QuickRule& rule;
    const Match& match;
    const Look& look;

    PlainMatch(const Match& of, const PlainJudging& judging) noexcept
        : rule{judging.set.quick[of.rule]}, match{of}, look{judging.scratch.looks[of.first]} {}

    // Whether the rule is of that kind and its bucket at hand.
    [[nodiscard]] bool is_plain(const PlainJudging& judging) const noexcept {
        return rule.plain && is_at_hand(judging);
    }
    // Whether the rule counts this packet and has its bucket at hand, which is
    // then written under the numbers in force.
    [[nodiscard]] bool is_at_hand(const PlainJudging& judging) const noexcept {
        return !match.skipped && look.entry != nullptr && look.entry->filed() == look.key.filed &&
               look.cost != Units{0} && (!judging.stale || make_current(judging));
    }
    // Writes the bucket under the numbers in force, if it is not.
    [[nodiscard]] bool make_current(const PlainJudging& judging) const noexcept {
        if (look.entry->stamp().version == rule.version) {
            return true;
        }
        judging.core.buckets.tenants.update(*look.entry, judging.now);
        return look.entry->stamp().version == rule.version;
    }
    [[nodiscard]] RuleCounters& counters(const PlainJudging& judging) const noexcept {
        return judging.core.counters.rules[rule.counters];
    }
};

inline void refuse(Packet& packet, const PlainMatch& by, const PlainJudging& judging) noexcept {
    by.counters(judging).exceeded.add(1);
    packet.decision = {.verdict = by.rule.on_exceed,
                       .reason = Reason::OverLimit,
                       .rule = by.match.rule,
                       .tag = by.rule.tag};
    if (judging.core.policy.tell_wait && !forwards(by.rule.on_exceed)) {
        const Cell cell = by.look.entry->cell();
        packet.decision.wait =
            wait(Gcra{cell.fresh_from, cell.rest}, *by.rule.limit, judging.now.at, by.look.cost)
                .value_or(kNever);
    }
}

// One rule: whatever it says.
[[nodiscard]] inline bool judge_one(Packet& packet, const Match& match,
                                    const PlainJudging& judging) noexcept {
    const PlainMatch by{match, judging};
    if (!by.is_plain(judging)) {
        return false;
    }
    if (!take(*by.look.entry, *by.rule.limit, judging.now.at, by.look.cost)) {
        refuse(packet, by, judging);
        return true;
    }
    by.counters(judging).admitted.add(1);
    packet.decision = {.reason = Reason::WithinLimits};
    return true;
}

// Several rules that all admit: each has a bucket of its own, so what one takes the others do not
// miss.
[[nodiscard, gnu::noinline]] inline bool judge_several(Packet& packet,
                                                       std::span<const Match> matches,
                                                       const PlainJudging& judging) noexcept {
    for (const Match& match : matches) {
        const PlainMatch by{match, judging};
        if (!by.is_plain(judging) ||
            !fits(*by.look.entry, *by.rule.limit, judging.now.at, by.look.cost)) {
            return false;
        }
    }
    for (const Match& match : matches) {
        const PlainMatch by{match, judging};
        take_fitting(*by.look.entry, *by.rule.limit, judging.now.at, by.look.cost);
        by.counters(judging).admitted.add(1);
    }
    packet.decision = {.reason = Reason::WithinLimits};
    return true;
}

// False: nothing has been done, and the long way is to be taken.
[[nodiscard]] inline bool judge_plain(Packet& packet, std::span<const Match> matches,
                                      const PlainJudging& judging) noexcept {
    if (matches.size() == 1) [[likely]] {
        return judge_one(packet, matches.front(), judging);
    }
    return !matches.empty() && judge_several(packet, matches, judging);
}

}  // namespace sluice
