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

    [[nodiscard]] const QuickRule& rule(const Match& match) const noexcept {
        return set.quick[match.rule];
    }
    [[nodiscard]] const Look& look(const Match& match) const noexcept {
        return scratch.looks[match.first];
    }
};

// Whether the rule is of that kind, counts this packet and has its bucket at hand.
[[nodiscard]] inline bool is_plain(const Match& match, const PlainJudging& judging) noexcept {
    if (!judging.rule(match).plain || match.skipped) {
        return false;
    }
    const Look& look = judging.look(match);
    return look.entry != nullptr && look.entry->filed() == look.key.filed && look.cost != Units{0};
}

inline void admit(const Match& match, const PlainJudging& judging) noexcept {
    judging.core.counters.rules[judging.rule(match).counters].admitted.add(1);
}

inline void refuse(Packet& packet, const Match& match, const PlainJudging& judging) noexcept {
    const QuickRule& rule = judging.rule(match);
    judging.core.counters.rules[rule.counters].exceeded.add(1);
    packet.decision = {.verdict = rule.on_exceed,
                       .reason = Reason::OverLimit,
                       .rule = match.rule,
                       .tag = rule.tag};
    if (judging.core.policy.tell_wait && !forwards(rule.on_exceed)) {
        const Look& look = judging.look(match);
        const Cell cell = look.entry->cell();
        packet.decision.wait =
            wait(Gcra{cell.fresh_from, cell.rest}, *rule.limit, judging.now.at, look.cost)
                .value_or(kNever);
    }
}

// One rule: whatever it says.
[[nodiscard]] inline bool judge_one(Packet& packet, const Match& match,
                                    const PlainJudging& judging) noexcept {
    if (!is_plain(match, judging)) {
        return false;
    }
    const Look& look = judging.look(match);
    if (!take(*look.entry, *judging.rule(match).limit, judging.now.at, look.cost)) {
        refuse(packet, match, judging);
        return true;
    }
    admit(match, judging);
    packet.decision = {.reason = Reason::WithinLimits};
    return true;
}

// Several rules that all admit: each has a bucket of its own, so what one takes the others do not
// miss.
[[nodiscard]] inline bool judge_several(Packet& packet, std::span<const Match> matches,
                                        const PlainJudging& judging) noexcept {
    for (const Match& match : matches) {
        const Look& look = judging.look(match);
        if (!is_plain(match, judging) ||
            !fits(*look.entry, *judging.rule(match).limit, judging.now.at, look.cost)) {
            return false;
        }
    }
    for (const Match& match : matches) {
        const Look& look = judging.look(match);
        (void)take(*look.entry, *judging.rule(match).limit, judging.now.at, look.cost);
        admit(match, judging);
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
