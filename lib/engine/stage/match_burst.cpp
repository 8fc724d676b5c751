#include "lib/engine/burst/burst_units.hpp"
#include "lib/engine/decide/decide_malformed.hpp"
#include "lib/engine/decide/sighted_rows.hpp"
#include "lib/engine/stage/answered_rows.hpp"
#include "lib/engine/stage/stages.hpp"
#include "lib/engine/stage/track_services.hpp"
#include "lib/match/classifier.hpp"

#include <span>

// The rules that match, and what that alone decides:
//
//   malformed          the box's policy
//   services           what reaches declared services is followed, and what their servers would not
//                      take is refused
//   headers            all rules that ask nothing else
//   on_match           the first enforcing one decides, before any limit
//   active             rules whose schedule does not hold now match nothing, but what they read of
//                      connections is read on
//   later layers       only of packets that a rule there may still concern: first the units that
//                      they complete, then the texts of these or of the packets
//
// A packet that a budget of `bypass` matches is left to the general path whole: whether the budget
// has room depends on the packets before it. So is one with several units of later layers: its
// verdict is the strictest of theirs. Each of these units is matched as a row of its own. So is a
// later fragment: the first one's verdict is known when it is its turn.
namespace sluice {
namespace {

class Matching {
public:
    // `answered`: rows that have been decided, since they are of connections that were answered.
    Matching(Burst& burst, const LoadedSet& set, const CoreState& core, Instant now,
             RowMask answered) noexcept
        : burst_{burst},
          set_{set},
          core_{core},
          now_{now},
          scratch_{burst.scratch()},
          answered_{answered} {}

    void run() noexcept {
        RowMask rows = burst_.headers().well_formed() & burst_.live();
        decide_malformed_rows();
        note_fragments(rows & ~burst_.headers().common);
        rows &= ~answered_;
        if (!set_.services.empty() || !burst_.is_new()) [[unlikely]] {
            refused_ = track_services(burst_, rows, set_, core_, now_);
            scratch_.decided |= refused_;
            scratch_.later_fragments &= ~refused_;
            rows &= ~refused_;
        } else {
            ++core_.untracked_bursts;
        }
        set_.classifier->match_headers(burst_.headers(), rows, scratch_.matches);
        if (set_.meter_plan.reads_payload() || !set_.services.empty()) [[unlikely]] {
            rows = find_units_of(rows);
        }
        leave_out_inactive();
        if (scratch_.matches.pending_rows() != 0) [[unlikely]] {
            match_later_layers(rows);
        }
        leave_to_general(rows);
        const RowMask open = rows & ~scratch_.general;
        scratch_.banned &= rows;
        scratch_.decided |= open & scratch_.banned;
        decide_on_sight(open & ~scratch_.banned);
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
        Packet* const packets = burst_.packets().data();
        const auto& parsed = burst_.headers().parsed;
        const PacketPolicy& policy = core_.policy;
        for_each_row(malformed, [&](std::size_t row) {
            packets[row].decision = decide_malformed(parsed[row], policy);
        });
        if (malformed != 0 && !set_.services.empty()) [[unlikely]] {
            for_each_row(malformed, [&](std::size_t row) {
                refuse_too_deep(set_.services, core_, packets[row].decision);
            });
        }
        scratch_.decided = malformed | answered_ | refused_;
    }

    [[nodiscard]] RowMask decided_by(const RuleMatch& match) const noexcept {
        const RulePlan& rule = plan_of(match.rule);
        const bool decides = rule.on_match == OnMatch::Act && rule.mode == Mode::Enforce;
        return decides && core_.schedules.holds(rule.schedule) ? match.rows : 0;
    }
    // Not what passes before others of its connection that are still to be judged.
    [[nodiscard]] RowMask ended_by(const RuleMatch& match) const noexcept {
        const RulePlan& rule = plan_of(match.rule);
        return rule.chooses_segments && forwards(rule.match_verdict) ? 0 : decided_by(match);
    }

    // Rows of rules that later layers concern in which they can still change something.
    struct Undecided {
        RowMask rows = 0;     // a verdict, what is spent or what is counted
        RowMask decided = 0;  // by an enforcing rule, whatever rules with limits there are
    };
    // Not the rows that an enforcing rule decides by headers, unless one of `asking` comes before
    // that, and is a budget or decides on sight too.
    template <typename Concerned, typename Ended>
    [[nodiscard]] Undecided undecided(std::span<const RuleMatch> asking, Concerned&& concerned,
                                      Ended&& ended) const noexcept {
        Undecided of;
        RowMask metered = 0;
        auto match = matched().begin();
        const auto end = matched().end();
        for (const RuleMatch& ask : asking) {
            for (; match != end && match->rule < ask.rule; ++match) {
                of.decided |= ended(*match);
            }
            const RulePlan& rule = plan_of(ask.rule);
            if (concerned(rule)) {
                (rule.on_match == OnMatch::Meter ? metered : of.rows) |= ask.rows & ~of.decided;
            }
        }
        for (; match != end; ++match) {
            of.decided |= ended(*match);
        }
        of.rows |= metered & ~of.decided;
        return of;
    }

    // The rows where such a rule is concerned with units that matches by its headers, or may match
    // yet: one that matches, if it counts them or groups by their texts.
    template <typename Asked, typename Ended>
    [[nodiscard]] RowMask concerned_rows(const BurstUnits& units, Asked&& asked,
                                         Ended&& ended) const noexcept {
        const auto matching = [&](const RulePlan& rule) {
            return asked(rule) && units.concern_matched(rule);
        };
        const auto waiting = [&](const RulePlan& rule) {
            return asked(rule) && units.concern(rule);
        };
        return undecided(matched(), matching, ended).rows |
               undecided(scratch_.matches.pending(), waiting, ended).rows;
    }

    // The same for enforcing rules alone. Where one of these reads a client.ip that proxies name,
    // also all rows of theirs: the client is known from what is read only.
    [[nodiscard]] RowMask acting_rows(const BurstUnits& units) const noexcept {
        const RowMask unknown =
            set_.meter_plan.enforces_on_clients ? burst_.proxied() | units.proxied() : 0;
        return unknown | concerned_rows(
                             units, [](const RulePlan& rule) { return rule.mode == Mode::Enforce; },
                             [this](const RuleMatch& match) { return decided_by(match); });
    }

    // The rows where a rule is concerned. Packets that have waited have been read before: what was
    // remembered of them is to be settled, whatever rules there are.
    [[nodiscard]] RowMask rows_to_read(const BurstUnits& units, RowMask rows) const noexcept {
        if (burst_.origin() == Burst::Origin::Pending) {
            return rows;
        }
        const RowMask of_services = rows & rows_of_services();
        rows = units.possible(unit_columns_of(burst_, set_, core_, now_), rows) | of_services;
        if (rows == 0) {
            return 0;
        }
        const auto ended = [this](const RuleMatch& match) { return ended_by(match); };
        const RowMask concerned =
            concerned_rows(units, [](const RulePlan&) { return true; }, ended);
        return rows & (concerned | burst_.proxied() | rows_of_streams() | of_services);
    }

    // Streams of services are read whole, whatever rules there are.
    [[nodiscard]] RowMask rows_of_services() const noexcept { return burst_.of_services(); }

    // The rows that pass or may, where a rule may match one packet of a stream and not the next.
    [[nodiscard]] RowMask rows_of_streams() const noexcept {
        if (!set_.meter_plan.reads_all_segments) [[likely]] {
            return 0;
        }
        RowMask ended = 0;
        for (const RuleMatch& match : matched()) {
            ended |= ended_by(match);
        }
        return ~ended;
    }

    // Finds units where a rule is concerned. Rows that rules see, then.
    [[nodiscard]] RowMask find_units_of(RowMask rows) noexcept {
        const BurstUnits* const units = burst_.unit_parser();
        if (units == nullptr || (!units->concern(set_.meter_plan) && set_.services.empty())) {
            return rows;
        }
        find_units(burst_, rows_to_read(*units, rows), set_, core_, now_);
        const RowMask named = burst_.proxied() & burst_.headers().present_rows(HeaderPart::Client);
        if ((named | units->proxied()) != 0 && set_.proxied_clients != nullptr) [[unlikely]] {
            // Clients that were named by what has been read are known by now.
            set_.classifier->match_headers(burst_.headers(), rows, scratch_.matches);
        }
        leave_out_inactive();
        count_would_refuse(*units);
        RowMask kept_back = 0;
        if ((units->unjudgeable() | units->following()) != 0) [[unlikely]] {
            kept_back = keep_back(*burst_.units());
        }
        return burst_.headers().well_formed() & burst_.live() & ~(kept_back | answered_ | refused_);
    }

    // Packets that have waited were counted when they came.
    void count_would_refuse(const BurstUnits& units) noexcept {
        if (!burst_.is_new()) {
            return;
        }
        for_each_row(units.would_refuse(), [&](std::size_t row) {
            core_.counters.would_refuse[static_cast<std::size_t>(units.why_would_refuse(row))].add(
                1);
        });
    }

    // Keeps back rows of rules that act: what cannot be judged is dropped, and what repeats bytes
    // whose verdict is still to come is left to the general path. Enforced services refuse what
    // cannot be read, and what repeats it, whatever rules there are. The rows that are dropped.
    [[nodiscard]] RowMask keep_back(BurstUnits& units) noexcept {
        const RowMask acting = acting_rows(units);
        const RowMask refusing =
            acting | units.unreadable() | of_enforced_services(units.unjudgeable() & ~acting);
        const RowMask rows = units.unjudgeable() & refusing & ~scratch_.decided;
        for_each_row(rows, [&](std::size_t row) {
            burst_.packets()[row].decision = dropped_for(units.why(row));
        });
        scratch_.decided |= rows;
        units.keep_following((acting | of_enforced_services(units.following())) & ~rows);
        return rows;
    }
    [[nodiscard]] RowMask of_enforced_services(RowMask rows) const noexcept {
        RowMask enforced = 0;
        for_each_row(rows, [&](std::size_t row) {
            enforced |= burst_.service(row).is_enforced() ? row_bit(row) : 0;
        });
        return enforced;
    }

    // Texts are read where they can still change something.
    void match_later_layers(RowMask rows) noexcept {
        const Undecided pending = undecided(
            scratch_.matches.pending(), [](const RulePlan&) { return true; },
            [this](const RuleMatch& match) { return decided_by(match); });
        const RowMask wanted = pending.rows | (scratch_.matches.pending_rows() & ~pending.decided);
        set_.classifier->match_texts(burst_.frames(), burst_.headers(), wanted & rows, *core_.texts,
                                     scratch_.matches);
        leave_out_inactive();
    }

    void leave_out_inactive() noexcept {
        if (!set_.schedules.empty()) [[unlikely]] {
            scratch_.matches.keep([this](std::uint32_t rule) {
                return core_.schedules.holds(plan_of(rule).schedule);
            });
        }
    }

    // Fragments whose first one a rule can refuse. A packet that has waited met it before that.
    void note_fragments(RowMask uncommon) noexcept {
        scratch_.first_fragments = scratch_.later_fragments = 0;
        if (uncommon == 0 || core_.fragments.refuse == nullptr || !set_.meter_plan.refuses) {
            return;
        }
        const HeaderColumns& headers = burst_.headers();
        for_each_row(uncommon & headers.present_rows(Field::IpFrag), [&](std::size_t row) {
            const Fragment frag = headers.frag[row];
            scratch_.first_fragments |= frag == Fragment::First ? row_bit(row) : 0;
            scratch_.later_fragments |= frag == Fragment::Later ? row_bit(row) : 0;
        });
        for_each_row(uncommon & headers.present_rows(Field::OuterIpSrc), [&](std::size_t row) {
            const bool is_in_first = headers.headers(row).fragment_around_at != 0;
            scratch_.first_fragments |= is_in_first ? row_bit(row) : 0;
        });
        if (burst_.origin() == Burst::Origin::Pending) {
            scratch_.later_fragments = 0;
        }
    }

    void leave_to_general(RowMask rows) noexcept {
        RowMask general = 0;
        for (const RuleMatch& match : matched()) {
            if (plan_of(match.rule).on_match != OnMatch::Bypass) {
                break;  // budgets stand before all rules
            }
            general |= match.rows;
        }
        scratch_.general =
            (general | burst_.several() | burst_.following() | scratch_.later_fragments) & rows;
    }

    // Packets that an enforcing rule decides are not handed over; they may wait behind others.
    // Where bans hold for sources, one that begins before a row's turn comes before these rules.
    void count_on_sight(const RulePlan& rule, RowMask rows, RowMask all) noexcept {
        if (!set_.source_bans.empty()) [[unlikely]] {
            scratch_.on_sight |= all;
        } else if (burst_.is_new() || (burst_.origin() == Burst::Origin::Worker &&
                                       rule.mode == Mode::Enforce)) [[likely]] {
            count_sighted(rule, rows, burst_, core_);
        }
    }

    void decide_on_sight(RowMask open) noexcept {
        const RowMask all = open;
        for (const RuleMatch& match : matched()) {
            const RulePlan& rule = plan_of(match.rule);
            if (rule.on_match != OnMatch::Act) {
                continue;
            }
            const RowMask rows = match.rows & open;
            count_on_sight(rule, rows, all);
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
    Instant now_;
    Scratch& scratch_;
    RowMask answered_;
    RowMask refused_ = 0;  // by services
};

// Packets that have been pending were read before: they are settled at their turn.
RowMask answered_rows(Burst& burst, const CoreState& core, Instant now) noexcept {
    const RowMask rows = burst.headers().well_formed() & burst.live();
    burst.scratch().answered_before = 0;
    if (!may_have_answered(burst, rows, core, now) || burst.origin() == Burst::Origin::Pending) {
        return 0;
    }
    burst.scratch().answered_before = core.answered->begun();
    return decide_answered(burst, rows, core, now);
}

}  // namespace

void match_burst(Burst& burst, const LoadedSet& set, const CoreState& core, Instant now) noexcept {
    notify_connections(burst, set, core, now);
    if (burst.size() == 0) {
        adopt_services(burst, set, core, now);
        return;
    }
    Matching{burst, set, core, now, answered_rows(burst, core, now)}.run();
    if (burst.units() != nullptr) [[unlikely]] {
        for (Burst& further : burst.units()->further()) {
            Matching{further, set, core, now, 0}.run();
        }
    }
}

}  // namespace sluice
