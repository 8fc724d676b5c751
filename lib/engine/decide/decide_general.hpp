#pragma once
#include "lib/engine/burst/core_state.hpp"
#include "lib/engine/burst/evaluated_packet.hpp"
#include "lib/engine/check/check_limit.hpp"
#include "lib/engine/remote/reserve_client.hpp"
#include "lib/rules/load/loaded_set.hpp"

#include <span>

namespace sluice {

// The rules that match one unit of a packet, and where the checks of all its units lie.
struct MatchedRules {
    CheckContext context;
    std::span<Match> matches;
    Match* all_matches;
    LimitCheck* all_checks;
    Per kind;
    bool is_only;  // the packet has no other unit
    // How many of the packet come before all readings of the unit.
    std::uint32_t matches_before = 0;
    std::uint32_t checks_before = 0;

    [[nodiscard]] const LoadedRule& rule(const Match& match) const noexcept {
        return context.set.rules[match.rule];
    }
    // True if the rule acts; of a candidate, if the one in whose place it is judged does.
    [[nodiscard]] bool acts_in_place(const LoadedRule& rule) const noexcept {
        return context.set.rules[rule.place].mode == Mode::Enforce;
    }
    [[nodiscard]] Verdict verdict_of(ActionIndex action) const noexcept {
        return context.set.actions[action].verdict;
    }
    // The shaping of a rule that delays what exceeds its limits; nullptr: it does not.
    [[nodiscard]] const ShapeValues* shape_of(const LoadedRule& rule) const noexcept {
        const Action& action = context.set.actions[rule.on_exceed];
        return action.verdict == Verdict::Shape ? &action.shape : nullptr;
    }
    [[nodiscard]] RuleCounters& counters(const Match& match) const noexcept {
        return context.core.counters.rules[rule(match).counters];
    }
    [[nodiscard]] BanCounters& bans(const Match& match) const noexcept {
        return context.core.counters.bans[rule(match).counters];
    }
    // The packet's bytes on the wire.
    [[nodiscard]] std::uint64_t frame_bytes() const noexcept {
        return context.frames.wire[context.row];
    }
    // Counts it for a rule with several limits, unless this is a dry run.
    void count_refusal(const LoadedRule& rule, const LoadedLimit& limit) const noexcept {
        if (rule.limits.size() > 1 && !context.ask.is_dry_run()) {
            context.core.counters.limits.refused(
                rule.counters, static_cast<std::size_t>(&limit - rule.limits.data()));
        }
    }
    [[nodiscard]] std::span<LimitCheck> checks(const Match& match) const noexcept {
        return {&all_checks[match.first], rule(match).limits.size()};
    }
    // True if the rule has counted an earlier reading of the unit.
    [[nodiscard]] bool is_repeated(const Match& match) const noexcept {
        const Match* const earlier = counted_before(match);
        return earlier != nullptr && earlier >= all_matches + matches_before;
    }
    // The rule's match in the nearest unit before that it has judged or skipped; nullptr: none.
    [[nodiscard]] const Match* counted_before(const Match& match) const noexcept {
        return before(match, &Match::counted);
    }
    // The same of the one that the packet's bytes were counted with.
    [[nodiscard]] const Match* evaluated_before(const Match& match) const noexcept {
        return before(match, &Match::bytes_counted);
    }
    [[nodiscard]] const Match* before(const Match& match, bool Match::* has) const noexcept {
        for (std::uint32_t at = match.previous; at != 0; at = all_matches[at - 1].previous) {
            if (all_matches[at - 1].*has) {
                return &all_matches[at - 1];
            }
        }
        return nullptr;
    }
};

// The decision of the rules on one unit, checked and not charged yet. Of a packet with several, all
// earlier ones have been decided.
[[nodiscard]] Decision decide_unit(MatchedRules evaluated) noexcept;

// The general path, for any packet that is well-formed: decides and charges.
[[nodiscard]] Decision decide_general(const PacketChecks& packet, const LoadedSet& set,
                                      CoreState& core, Now now, AskContext ask = {}) noexcept;
// Decides as if every owner that is to be asked said yes, and nothing is charged or counted; a
// worker without others is the owner itself. The checks have been used up by it, and keys without a
// bucket have got one.
[[nodiscard]] Decision dry_run(const PacketChecks& packet, const LoadedSet& set, CoreState& core,
                               Now now) noexcept;
// A dry run in which each check says, too, whether the packet would be charged to it.
[[nodiscard]] Decision dry_run_charges(const PacketChecks& packet, const LoadedSet& set,
                                       CoreState& core, Now now) noexcept;

}  // namespace sluice
