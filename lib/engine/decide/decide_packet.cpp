#include "lib/engine/decide/decide_general.hpp"

#include "lib/engine/check/ask_bucket.hpp"
#include "lib/engine/decide/blocking_rules.hpp"
#include "lib/engine/decide/shaping.hpp"
#include "lib/engine/key/source_ban.hpp"
#include "lib/engine/remote/asked_limit.hpp"
#include "lib/packet/tcp_flags.hpp"

#include <algorithm>

// The decision on a packet from those on its units, and the charges that follow.
namespace sluice {
namespace {

// A monitoring rule spends as it would if it enforced: not when it would have refused.
bool spends(const Match& match, const LoadedRule& rule, const MatchedRules& evaluated) noexcept {
    return rule.on_match == OnMatch::Bypass
               ? match.passed
               : !match.overflowed && (evaluated.acts_in_place(rule) || !match.refused_any);
}

// The end of a packet: whether it goes on, and how long it is held before.
struct Ending {
    bool forwarded;
    Nanoseconds delay;
};

// Charges of a rule for a unit: its cost to each limit that admitted it, or what is left to each
// that has been asked.
struct MatchCharges {
    bool spending;
    bool empties;
};
MatchCharges charges_of(const Match& match, const MatchedRules& evaluated, Ending ending) noexcept {
    const LoadedRule& rule = evaluated.rule(match);
    const bool spending = ending.forwarded && spends(match, rule, evaluated);
    return {spending, !spending && !(ending.forwarded && match.overflowed) && rule.rejected_spend};
}

// Charges what admitted the unit, if its packet goes on; ends the holds of the rule.
void end_match(const Match& match, const MatchedRules& evaluated, Ending ending) noexcept {
    const LoadedRule& rule = evaluated.rule(match);
    const auto [spending, empties] = charges_of(match, evaluated, ending);
    const bool departs = spending && ending.delay != Nanoseconds{0} &&
                         evaluated.acts_in_place(rule) && evaluated.shape_of(rule) != nullptr;
    const LoadedLimit* limit = rule.limits.data();
    for (LimitCheck& check : evaluated.checks(match)) {
        const LoadedLimit& own = *limit++;
        if (check.asked && check.at_owner) [[unlikely]] {
            settle_asked({check, own, rule}, evaluated.context, spending, empties);
        } else if (check.asked && check.entry != nullptr) {
            departs ? commit_departure(check, evaluated.context, ending.delay, !rule.candidate)
                    : commit(check, evaluated.context, spending, empties);
        }
    }
}

// The finding that a unit that a rule has room for counts as once its packet is decided: admitted
// where the packet goes on, and would if a rule that monitors acted; exceeded where the rule
// refuses the packet for another of its units; skipped where something else keeps the packet back.
// An allowing rule that monitors counts what it would let through, before any other rule.
Finding ending_of(const Match& match, const MatchedRules& evaluated, Ending ending) noexcept {
    const LoadedRule& rule = evaluated.rule(match);
    const bool acts = evaluated.acts_in_place(rule) || rule.on_match == OnMatch::Bypass;
    const bool goes_on = ending.forwarded && (acts || !match.blocks_any);
    if (goes_on || (rule.on_match == OnMatch::Act && !acts)) {
        return match.finding;
    }
    return match.blocks_any ? Finding::Refuses : Finding::Nothing;
}

// The bytes of a packet count once, with the first unit that the rule admits or refuses.
void count_match(Match& match, const MatchedRules& evaluated, Ending ending) noexcept {
    if (match.finding == Finding::NotAsked ||
        (evaluated.rule(match).on_match == OnMatch::Act && evaluated.is_repeated(match))) {
        return;
    }
    const bool has_room = match.finding == Finding::HasRoom || match.finding == Finding::IsExempt;
    const Finding finding = has_room ? ending_of(match, evaluated, ending) : match.finding;
    RuleCounters& counters = evaluated.counters(match);
    if (finding == Finding::Nothing) {
        counters.skipped.add(1);
        return;
    }
    match.bytes_counted = true;
    const bool is_first = evaluated.is_only || evaluated.evaluated_before(match) == nullptr;
    const std::uint64_t bytes = is_first ? evaluated.frame_bytes() : 0;
    const bool refuses = finding == Finding::Refuses;
    (refuses ? counters.exceeded : counters.admitted).add(1);
    (refuses ? counters.exceeded_bytes : counters.admitted_bytes).add(bytes);
    counters.exempted.add(finding == Finding::IsExempt ? 1 : 0);
}

// Ends all holds.
void release_unit(const MatchedRules& evaluated) noexcept {
    for (const Match& match : evaluated.matches) {
        for (LimitCheck& check : evaluated.checks(match)) {
            if (check.asked && check.entry != nullptr) {
                commit(check, evaluated.context, false, false);
            }
        }
    }
}

// The stricter verdict of two units of a packet is first, of equals the one of the first rule in
// the file; a unit that some rule has judged comes before one that none has.
bool is_before(const Decision& decision, const Decision& other) noexcept {
    if (decision.verdict != other.verdict) {
        return decision.verdict > other.verdict;
    }
    if (decision.rule != other.rule) {
        return decision.rule < other.rule;
    }
    return says_more(decision.reason, other.reason);
}

// A rule that refuses one unit of a packet refuses the packet.
void spread_refusals(const PacketChecks& packet) noexcept {
    const auto pass_on = [](const Match& from, Match& to) {
        to.refused_any |= from.refused_any;
        to.blocks_any |= from.blocks_any;
    };
    for (const EvaluatedUnit& unit : packet.units) {
        for (Match& match : unit.matches) {
            match.refused_any = match.refused;
            match.blocks_any = match.blocks;
            if (match.previous != 0) {
                pass_on(packet.matches[match.previous - 1], match);
            }
        }
    }
    for (std::size_t left = packet.units.size(); left > 0; --left) {
        for (const Match& match : packet.units[left - 1].matches) {
            if (match.previous != 0) {
                pass_on(match, packet.matches[match.previous - 1]);
            }
        }
    }
}

// The latest departure of several shapers holds; `counts` says which rules hold the packet.
template <typename Counts>
Nanoseconds departure_of(const PacketChecks& packet, Counts&& counts) noexcept {
    Nanoseconds delay{};
    for (const EvaluatedUnit& unit : packet.units) {
        for (const Match& match : unit.matches) {
            delay = counts(match.rule) ? std::max(delay, match.delay) : delay;
        }
    }
    return delay;
}

// The rules that keep the packet back.
BlockingRules blocking_rules(const PacketChecks& packet, const LoadedSet& set) noexcept {
    BlockingRules blocking;
    for (const EvaluatedUnit& unit : packet.units) {
        if (!forwards(unit.decision.verdict)) {
            blocking.add(unit.decision.rule);
        }
        for (const Match& match : unit.matches) {
            if (match.blocks && set.rules[match.rule].mode == Mode::Enforce) {
                blocking.add(match.rule);
            }
        }
    }
    return blocking;
}

// One packet on its way through the general path.
class Evaluation {
public:
    Evaluation(const PacketChecks& packet, const LoadedSet& set, CoreState& core, Now now,
               AskContext ask) noexcept
        : packet_{packet},
          set_{set},
          core_{core},
          now_{now},
          ask_{ask},
          tells_wait_{core.policy.tell_wait || has_telling_rule()},
          is_proven_{set.proves_senders && is_proven(packet.units.front())},
          ban_{ban_of(packet.units.front())} {}

    // Decides the units, and the packet by them.
    [[nodiscard]] Decision decide() noexcept;
    [[nodiscard]] Nanoseconds departure() const noexcept {
        return departure_of(
            packet_, [&](std::uint32_t rule) { return set_.rules[rule].mode == Mode::Enforce; });
    }
    void end(Ending ending) const noexcept {
        for_each_match(ending, [](Match& match, const MatchedRules& evaluated, Ending own) {
            count_match(match, evaluated, own);
            end_match(match, evaluated, own);
        });
    }
    // Says of each check whether end() would charge to it.
    void note_charges(Ending ending) const noexcept {
        for_each_match(ending, [](const Match& match, const MatchedRules& evaluated, Ending own) {
            const auto [spending, empties] = charges_of(match, evaluated, own);
            for (LimitCheck& check : evaluated.checks(match)) {
                const bool admitted = is_admitted(check.conformance) || check.reserved;
                check.charged = check.asked && ((spending && admitted) || empties);
            }
        });
    }
    // Nothing is charged, whatever was admitted.
    void release() const noexcept {
        for (const EvaluatedUnit& unit : packet_.units) {
            release_unit(rules_of(unit));
        }
    }

private:
    // Each match of each unit, with what becomes of the packet: of a candidate, what would.
    template <typename Visit>
    void for_each_match(Ending ending, Visit&& visit) const noexcept {
        const BlockingRules blocking =
            set_.meter_plan.has_candidates ? blocking_rules(packet_, set_) : BlockingRules{};
        for (const EvaluatedUnit& unit : packet_.units) {
            const MatchedRules evaluated = rules_of(unit);
            for (Match& match : evaluated.matches) {
                visit(match, evaluated,
                      evaluated.rule(match).candidate ? ending_in_place(match, blocking) : ending);
            }
        }
    }
    // The packet's end if the candidate's rule had its limits.
    [[nodiscard]] Ending ending_in_place(const Match& match,
                                         const BlockingRules& blocking) const noexcept {
        const std::uint32_t place = set_.rules[match.rule].place;
        const bool acts = set_.rules[place].mode == Mode::Enforce;
        if (blocking.any_but(place) || (acts && match.blocks_any)) {
            return {false, Nanoseconds{0}};
        }
        return {true, departure_of(packet_, [&](std::uint32_t rule) {
                    return rule == match.rule ||
                           (rule != place && set_.rules[rule].mode == Mode::Enforce);
                })};
    }
    // True if the answer of a rule that matches may tell a client how long to wait.
    [[nodiscard]] bool has_telling_rule() const noexcept {
        if (!set_.meter_plan.answers_requests) [[likely]] {
            return false;
        }
        bool tells = false;
        for (const EvaluatedUnit& unit : packet_.units) {
            for (const Match& match : unit.matches) {
                tells |= set_.meter_plan.rules[match.rule].tells_wait;
            }
        }
        return tells;
    }
    // True of a segment of the client, of a connection whose handshake has been completed, that
    // begins at the first byte that the server has not acknowledged: whoever sees nothing of it
    // cannot forge one. On a long
    // connection one number in thousands is an old segment's, and a SYN or RST passes whatever its
    // numbers are. The end of a tunnel answers to whoever wrote to it, under whatever
    // address inside: what comes in one proves nothing. The packet's units are of its connection,
    // as the first.
    [[nodiscard]] static bool is_proven(const EvaluatedUnit& unit) noexcept {
        if (unit.burst->handshake(unit.row) != Handshake::Completed ||
            unit.burst->headers().headers(unit.row).fields.has(Field::OuterIpSrc)) {
            return false;
        }
        const ServicePacket service = unit.burst->service(unit.row);
        return service.is_enforced() && service.is_from_client && service.is_next &&
               !service.is_other_syn &&
               (unit.burst->headers().tcp_flags[unit.row] & (kTcpSyn | kTcpRst)) == 0;
    }
    // The first unit's row is the packet's own.
    [[nodiscard]] static const Decision* ban_of(const EvaluatedUnit& unit) noexcept {
        return has_row(unit.burst->scratch().banned, unit.row) ? &unit.burst->decision(unit.row)
                                                               : nullptr;
    }
    [[nodiscard]] MatchedRules rules_of(const EvaluatedUnit& unit) const noexcept {
        AskContext ask = ask_;
        ask.unit = static_cast<std::uint8_t>(&unit - packet_.units.data());
        return {.context = {.set = set_,
                            .core = core_,
                            .now = now_,
                            .frames = unit.burst->frames(),
                            .headers = unit.burst->headers(),
                            .row = unit.row,
                            .checks = packet_.checks,
                            .ask = ask,
                            .tells_wait = tells_wait_,
                            .is_proven = is_proven_,
                            .ban = ban_},
                .matches = unit.matches,
                .all_matches = packet_.matches,
                .all_checks = packet_.checks,
                .kind = unit.kind,
                .is_only = packet_.units.size() == 1,
                .matches_before = unit.matches_before,
                .checks_before = unit.checks_before};
    }

    const PacketChecks& packet_;
    const LoadedSet& set_;
    CoreState& core_;
    Now now_;
    AskContext ask_;
    bool tells_wait_;
    bool is_proven_;
    const Decision* ban_;
};

Decision Evaluation::decide() noexcept {
    EvaluatedUnit& first = packet_.units.front();
    first.decision = decide_unit(rules_of(first));
    Decision decision = first.decision;
    for (EvaluatedUnit& unit : packet_.units.subspan(1)) {
        unit.decision = decide_unit(rules_of(unit));
        const Nanoseconds wait = std::max(decision.wait, unit.decision.wait);
        decision = is_before(unit.decision, decision) ? unit.decision : decision;
        decision.wait = wait;
    }
    return decision;
}

Evaluation dry_run_of(const PacketChecks& packet, const LoadedSet& set, CoreState& core,
                      Now now) noexcept {
    return {packet,
            set,
            core,
            now,
            {.pass = AskContext::Pass::DryRun, .reserve_client = core.reserve_client}};
}

Decision decide_without_charges(Evaluation& evaluation) noexcept {
    Decision decision = evaluation.decide();
    const bool departs = decision.verdict == Verdict::Shape;
    if (forwards(decision.verdict)) {
        decision.wait = departs ? evaluation.departure() : Nanoseconds{0};
    }
    return decision;
}

}  // namespace

Decision decide_general(const PacketChecks& packet, const LoadedSet& set, CoreState& core, Now now,
                        AskContext ask) noexcept {
    Evaluation evaluation{packet, set, core, now, ask};
    Decision decision = evaluation.decide();
    spread_refusals(packet);
    const bool forwarded = forwards(decision.verdict);
    decision.wait = forwarded ? Nanoseconds{0} : decision.wait;
    if (decision.verdict == Verdict::Shape) [[unlikely]] {
        decision.wait = evaluation.departure();
        --core.hold_capacity;
    }
    evaluation.end({forwarded, forwarded ? decision.wait : Nanoseconds{0}});
    if (decision.reason == Reason::BannedSource) [[unlikely]] {
        count_source_ban(decision, set, core);
    }
    return decision;
}

Decision dry_run(const PacketChecks& packet, const LoadedSet& set, CoreState& core,
                 Now now) noexcept {
    Evaluation evaluation = dry_run_of(packet, set, core, now);
    const Decision decision = decide_without_charges(evaluation);
    evaluation.release();
    return decision;
}

Decision dry_run_charges(const PacketChecks& packet, const LoadedSet& set, CoreState& core,
                         Now now) noexcept {
    Evaluation evaluation = dry_run_of(packet, set, core, now);
    const Decision decision = decide_without_charges(evaluation);
    spread_refusals(packet);
    const bool forwarded = forwards(decision.verdict);
    evaluation.note_charges({forwarded, forwarded ? decision.wait : Nanoseconds{0}});
    evaluation.release();
    return decision;
}

}  // namespace sluice
