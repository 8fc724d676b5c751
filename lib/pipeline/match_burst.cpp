#include "lib/match/classifier.hpp"
#include "lib/pipeline/burst_units.hpp"
#include "lib/pipeline/decide_malformed.hpp"
#include "lib/pipeline/stages.hpp"

#include <span>

// Which rules match, and what that alone decides:
//
//   malformed          the box's policy
//   headers            all rules that ask nothing else
//   on_match           the first enforcing one decides, before any limit
//   later layers       only of packets that a rule there may still concern
//
// A packet that a budget of `bypass` matches is left to the general path whole: whether the budget
// has room depends on the packets before it. So is one with several units of later layers: its
// verdict is the strictest of theirs. Each of these units is matched as a row of its own.
namespace sluice {
namespace {

class Matching {
public:
    Matching(Burst& burst, const LoadedSet& set, const CoreState& core) noexcept
        : burst_{burst}, set_{set}, core_{core}, scratch_{burst.scratch()} {}

    void run() noexcept {
        const RowMask rows = burst_.headers().well_formed() & burst_.live();
        decide_malformed_rows();
        set_.classifier->match_headers(burst_.headers(), rows, scratch_.matches);
        if (scratch_.matches.pending_rows() != 0) [[unlikely]] {
            match_later_layers();
        }
        leave_to_general(rows);
        decide_on_sight(rows & ~scratch_.general);
        list_rules();
    }

private:
    [[nodiscard]] std::span<const RuleMatch> matched() const noexcept {
        return scratch_.matches.matched();
    }
    [[nodiscard]] const RulePlan& plan_of(std::uint32_t rule) const noexcept {
        return set_.meter_plan.rules[rule];
    }

    void decide_malformed_rows() noexcept {
        const RowMask malformed = burst_.headers().malformed & burst_.live();
        for_each_row(malformed, [&](std::size_t row) {
            burst_.packets()[row].decision =
                decide_malformed(burst_.headers().parsed[row], core_.policy);
        });
        scratch_.decided = malformed;
    }

    [[nodiscard]] RowMask decided_by(const RuleMatch& match) const noexcept {
        const RulePlan& rule = plan_of(match.rule);
        return rule.on_match == OnMatch::Act && rule.mode == Mode::Enforce ? match.rows : 0;
    }

    // Texts are looked at only where they can still change a verdict, what is spent or what is
    // counted: not in a row that an enforcing rule decides by headers, unless a rule that is
    // pending there comes before it, and is a budget or decides on sight too.
    void match_later_layers() noexcept {
        RowMask decided = 0;
        RowMask wanted = 0;
        auto match = matched().begin();
        const auto end = matched().end();
        for (const RuleMatch& pending : scratch_.matches.pending()) {
            for (; match != end && match->rule < pending.rule; ++match) {
                decided |= decided_by(*match);
            }
            const bool metered = plan_of(pending.rule).on_match == OnMatch::Meter;
            wanted |= metered ? 0 : pending.rows & ~decided;
        }
        for (; match != end; ++match) {
            decided |= decided_by(*match);
        }
        wanted |= scratch_.matches.pending_rows() & ~decided;
        set_.classifier->match_texts(burst_.frames(), burst_.headers(), wanted, *core_.texts,
                                     scratch_.matches);
    }

    void leave_to_general(RowMask rows) noexcept {
        RowMask general = 0;
        for (const RuleMatch& match : matched()) {
            if (plan_of(match.rule).on_match != OnMatch::Bypass) {
                break;  // budgets stand before all rules
            }
            general |= match.rows;
        }
        scratch_.general = (general | burst_.several()) & rows;
    }

    void decide_on_sight(RowMask open) noexcept {
        for (const RuleMatch& match : matched()) {
            const RulePlan& rule = plan_of(match.rule);
            if (rule.on_match != OnMatch::Act) {
                continue;
            }
            const RowMask rows = match.rows & open;
            const bool allow = forwards(rule.match_verdict);
            RuleCounters& counters = core_.counters.rules[rule.counters];
            (allow ? counters.admitted : counters.exceeded)
                .add(static_cast<std::uint64_t>(std::popcount(rows)));
            if (rule.mode != Mode::Enforce || rows == 0) {
                continue;
            }
            const Decision decision = decision_on_sight(rule, match.rule);
            for_each_row(rows, [&](std::size_t row) { burst_.packets()[row].decision = decision; });
            open &= ~rows;
            scratch_.decided |= rows;
        }
    }

    // Rules that metering may ask: those with limits, and all of what the general path decides.
    void list_rules() noexcept {
        const RowMask open = ~scratch_.decided;
        std::uint32_t count = 0;
        for (const RuleMatch& match : matched()) {
            const RulePlan& rule = plan_of(match.rule);
            const bool metered =
                rule.on_match == OnMatch::Meter || rule.on_match == OnMatch::Bypass;
            const RowMask rows = match.rows & (metered ? open : scratch_.general);
            scratch_.rules[count] = {.rule = match.rule, .rows = rows};
            scratch_.active_of[match.rule] = count;
            count += rows != 0 ? 1 : 0;
        }
        scratch_.rule_count = count;
    }

    Burst& burst_;
    const LoadedSet& set_;
    const CoreState& core_;
    Scratch& scratch_;
};

}  // namespace

void match_burst(Burst& burst, const LoadedSet& set, const CoreState& core) noexcept {
    if (burst.size() == 0) {
        return;
    }
    Matching{burst, set, core}.run();
    if (burst.units() != nullptr) [[unlikely]] {
        for (Burst& further : burst.units()->further()) {
            Matching{further, set, core}.run();
        }
    }
}

}  // namespace sluice
