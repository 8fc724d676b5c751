#include "lib/engine/burst/adopt.hpp"
#include "lib/engine/burst/burst_units.hpp"
#include "lib/engine/burst/evaluated_packet.hpp"
#include "lib/engine/decide/decide_fast.hpp"
#include "lib/engine/decide/decide_general.hpp"
#include "lib/engine/decide/follow_connections.hpp"
#include "lib/engine/decide/mark_refused.hpp"
#include "lib/engine/decide/sighted_rows.hpp"
#include "lib/engine/key/event_burst.hpp"
#include "lib/engine/key/source_ban.hpp"
#include "lib/engine/remote/asked_limit.hpp"
#include "lib/engine/stage/answered_rows.hpp"
#include "lib/engine/stage/fragment_rows.hpp"
#include "lib/engine/stage/heat_burst.hpp"
#include "lib/engine/stage/sample_burst.hpp"
#include "lib/engine/stage/stages.hpp"

#include <array>
#include <optional>
#include <span>

namespace sluice {
namespace {

[[gnu::noinline]] void decide_row(BurstRow at, const LoadedSet& set, CoreState& core, Now now,
                                  AskContext ask = {}) noexcept {
    Burst& burst = *at.burst;
    const std::size_t row = at.row;
    const PacketChecks of = collect_checks(burst, row, set);
    burst.packets()[row].decision = decide_general(of, set, core, now, ask);
    for (std::size_t number = 0; of.units.size() > 1 && number < of.units.size(); ++number) {
        burst.units()->decision(row, number) = of.units[number].decision;
    }
    mark_refused(of, set, core.watching != nullptr);
}

[[gnu::always_inline]] inline bool decides_fast(FastPath& fast, std::size_t row) noexcept {
    return fast.decide(row) || fast.decide_widened(row);
}

// A burst that is being decided, under what and when.
struct Deciding {
    Burst& burst;
    const LoadedSet& set;
    CoreState& core;
    Now now;
};

// Drops the rows behind one that has begun a ban of their source.
[[gnu::always_inline]] inline void drop_banned_since(const Deciding& of, std::size_t row,
                                                     FastPath& fast) noexcept {
    if (of.core.source_bans_begun != of.burst.scratch().bans_seen) [[unlikely]] {
        fast.withdraw(find_bans_begun_by({&of.burst, row}, of.set, of.core, of.now));
    }
}

// True if a packet repeats bytes that were refused, by what has become of all packets before it.
[[gnu::noinline]] bool repeats_refused(Burst& burst, std::size_t row, const LoadedSet& set,
                                       FastPath& fast) noexcept {
    fast.write_admitted();
    burst.units()->settle(burst, burst.live() & first_rows(row), set.meter_plan);
    return burst.units()->repeats_refused(row);
}

// Packets that wait for what owners of keys say are settled when they come back.
void settle(Burst& burst, const LoadedSet& set, const CoreState& core, Now now) noexcept {
    if (burst.scratch().first_fragments != 0) [[unlikely]] {
        remember_fragments(burst, burst.live(), core, now);
    }
    if (burst.units() != nullptr) [[unlikely]] {
        burst.units()->settle(burst, burst.live(), set.meter_plan);
    }
}

// Decides where owners of keys are asked, or packets wait for what they say.
class DecidingWithOwners {
public:
    DecidingWithOwners(Burst& burst, const LoadedSet& set, CoreState& core, Now now) noexcept
        : burst_{burst}, set_{set}, core_{core}, now_{now}, reserve_client_{*core.reserve_client} {}

    void run() noexcept {
        const Scratch& scratch = burst_.scratch();
        FastPath fast{burst_, set_, core_, now_};
        RowsBehindAnswers behind{burst_, set_, core_, now_.at};
        for_each_row(burst_.live(), [&](std::size_t row) {
            if (behind.has(row)) {
                return;
            }
            const bool metered =
                has_row((scratch.general | scratch.looked_up) & ~scratch.decided, row);
            if (has_row(scratch.later_fragments, row) &&
                refuse_fragment({&burst_, row}, fast, core_, now_)) {
                return;
            }
            if (is_dropped(row) || (is_behind(row) && queue_after(row, metered))) {
                return;
            }
            if (!metered) {
                fast.admit(row_bit(row) & ~scratch.decided);
            } else if (has_row(scratch.general, row) || !decides_fast(fast, row)) {
                if (has_row(burst_.following(), row) && repeats_refused(burst_, row, set_, fast)) {
                    burst_.decision(row) = dropped_for(Reason::Retransmission);
                } else {
                    decide(row);
                    drop_banned_since({burst_, set_, core_, now_}, row, fast);
                }
            }
            behind.look(row, fast);
        });
        fast.finish();
        settle(burst_, set_, core_, now_);
        if (burst_.origin() == Burst::Origin::Pending) {
            for (std::size_t row = 0; row < burst_.size(); ++row) {
                reserve_client_.finish(burst_.place(row));
            }
        }
    }

private:
    // True if an earlier packet of its connection is pending.
    [[nodiscard]] bool is_behind(std::size_t row) const noexcept {
        return burst_.origin() != Burst::Origin::Pending && !reserve_client_.empty() &&
               reserve_client_.holds(connection(row));
    }
    // Dropped packets need no order. What a rule answers comes behind the packets before it.
    [[nodiscard]] bool is_dropped(std::size_t row) noexcept {
        const Decision& decision = burst_.decision(row);
        const bool is_answered = answers(decision.verdict) && decision.rule != kNoRule;
        return has_row(burst_.scratch().decided, row) && !forwards(decision.verdict) &&
               !is_answered;
    }
    // A copy of what waits is not forwarded before it; its sender sends another.
    [[nodiscard]] bool queue_after(std::size_t row, bool metered) noexcept {
        if (wait_behind(row, metered)) {
            return true;
        }
        const bool is_copy = has_row(burst_.following(), row);
        if (is_copy) {
            burst_.decision(row) = dropped_for(Reason::Retransmission);
        }
        return is_copy;
    }
    // Asks at once what the packet is to ask. Where no place is left, the packet goes
    // before those that wait: nobody is refused for that.
    [[nodiscard]] bool wait_behind(std::size_t row, bool metered) noexcept {
        const std::size_t questions = metered ? questions_of(row).value_or(0) : 0;
        const bool waits = hold(row, questions);
        core_.counters.by_table_event[static_cast<std::size_t>(TableEvent::AskOvertook)].add(
            waits ? 0 : 1);
        return waits;
    }

    void decide(std::size_t row) noexcept {
        if (!asks_owners(collect_checks(burst_, row, set_), set_)) {
            decide_row({&burst_, row}, set_, core_, now_);
            return;
        }
        using Pass = AskContext::Pass;
        const PendingSlot place = burst_.place(row);
        AskContext ask{.pass = Pass::Answered, .reserve_client = &reserve_client_, .place = place};
        if (place == kNoPendingSlot || !reserve_client_.has_asked(place)) {
            const std::optional<std::size_t> questions = questions_of(row);
            if (!questions) {
                ask.pass = Pass::NotAsked;
            } else if (place == kNoPendingSlot && hold(row, *questions)) {
                return;
            }
        }
        decide_row({&burst_, row}, set_, core_, now_, ask);
    }
    // How many its owners are to be asked; nullopt: whatever they would say, it is refused.
    [[nodiscard]] std::optional<std::size_t> questions_of(std::size_t row) noexcept {
        const PacketChecks of = collect_checks(burst_, row, set_);
        const Decision decision = dry_run(of, set_, core_, now_);
        if (!forwards(decision.verdict) && !asks_budgets(of, set_)) {
            return std::nullopt;
        }
        return list_questions(of, set_, core_.hash, reserve_client_.list());
    }
    [[nodiscard]] bool hold(std::size_t row, std::size_t questions) noexcept {
        return questions <= kMaxQuestions &&
               reserve_client_.hold(burst_, row, connection(row),
                                    reserve_client_.list().first(questions), now_.at);
    }
    // Packets that are to stay in their order: of one direction of a connection.
    [[nodiscard]] std::uint64_t connection(std::size_t row) const noexcept {
        return burst_.ends_of(row, core_.hash).along();
    }

    Burst& burst_;
    const LoadedSet& set_;
    CoreState& core_;
    Now now_;
    ReserveClient& reserve_client_;
};

[[nodiscard]] bool meets_owners(const Burst& burst, const LoadedSet& set,
                                const CoreState& core) noexcept {
    return core.reserve_client != nullptr &&
           (set.meter_plan.has_asked() || !core.reserve_client->empty() ||
            burst.origin() == Burst::Origin::Pending);
}

[[gnu::always_inline]] inline void decide_metered(const Deciding& of, std::size_t row,
                                                  FastPath& fast) noexcept {
    Burst& burst = of.burst;
    const Scratch& scratch = burst.scratch();
    if (has_row(scratch.general, row) || !decides_fast(fast, row)) [[unlikely]] {
        if (has_row(scratch.later_fragments, row) &&
            refuse_fragment({&burst, row}, fast, of.core, of.now)) {
            return;
        }
        if (has_row(burst.following(), row) && repeats_refused(burst, row, of.set, fast)) {
            burst.packets()[row].decision = dropped_for(Reason::Retransmission);
        } else {
            decide_row({&burst, row}, of.set, of.core, of.now);
            drop_banned_since(of, row, fast);
        }
    }
}

// Packet by packet, in arrival order: what one packet spends, the next one sees.
void decide(Burst& burst, const LoadedSet& set, CoreState& core, Now now) noexcept {
    const Scratch& scratch = burst.scratch();
    FastPath fast{burst, set, core, now};
    const RowMask rows = burst.live() & ~scratch.decided;
    fast.admit(rows & ~(scratch.general | scratch.looked_up));
    RowMask others = scratch.general | scratch.with_state;
    RowMask left = rows & (scratch.general | scratch.looked_up);
    while ((left = fast.decide_buckets(left)) != 0) {
        // Behind a row that left the loop for its overrides, the rows of such limits are decided
        // one by one: leaving it again for each of them would cost more.
        others |= (left & -left & scratch.overridden) != 0 ? scratch.overridden : RowMask{0};
        do {
            const auto row = static_cast<std::size_t>(std::countr_zero(left));
            decide_metered({burst, set, core, now}, row, fast);
            left &= left - 1;
        } while ((left & -left & others) != 0);
    }
    fast.finish();
    settle(burst, set, core, now);
}

// Packets that are answered leave those behind them on their connections to no rule.
[[gnu::noinline]] void decide_and_answer(Burst& burst, const LoadedSet& set, CoreState& core,
                                         Now now) noexcept {
    const Scratch& scratch = burst.scratch();
    FastPath fast{burst, set, core, now};
    RowsBehindAnswers behind{burst, set, core, now.at};
    const RowMask rows = burst.live() & ~scratch.decided;
    const RowMask metered = rows & (scratch.general | scratch.looked_up);
    fast.admit(rows & ~metered);
    for_each_row(metered | rows_answered_on_sight(burst, set), [&](std::size_t row) {
        if (behind.has(row)) {
            return;
        }
        if (has_row(metered, row)) {
            decide_metered({burst, set, core, now}, row, fast);
        }
        behind.look(row, fast);
    });
    fast.finish();
    settle(burst, set, core, now);
}

// The same where connections are counted: each packet that is forwarded is followed before the next
// one is decided.
[[gnu::noinline]] void decide_and_follow(Burst& burst, const LoadedSet& set, CoreState& core,
                                         Now now) noexcept {
    const Scratch& scratch = burst.scratch();
    FastPath fast{burst, set, core, now};
    RowsBehindAnswers behind{burst, set, core, now.at};
    const RowMask metered = (scratch.general | scratch.looked_up) & ~scratch.decided;
    fast.admit(burst.live() & ~scratch.decided & ~metered);
    fast.write_admitted();
    for_each_row(burst.live(), [&](std::size_t row) {
        if (behind.has(row)) {
            return;
        }
        if (has_row(metered, row)) {
            decide_metered({burst, set, core, now}, row, fast);
            fast.write_admitted();
        }
        behind.look(row, fast);
        if (forwards(burst.decision(row).verdict)) {
            follow_row(burst, row, core, now);
        }
    });
    fast.finish();
    settle(burst, set, core, now);
}

// Follows, behind a burst whose packets may wait for owners, those that do not.
void follow_rest(const Burst& burst, CoreState& core, Now now) noexcept {
    for_each_row(burst.live(), [&](std::size_t row) {
        if (forwards(burst.packets()[row].decision.verdict)) {
            follow_row(burst, row, core, now);
        }
    });
}

[[gnu::noinline]] void decide_all(Burst& burst, const LoadedSet& set, CoreState& core, Now now,
                                  bool follows) noexcept {
    if (meets_owners(burst, set, core)) [[unlikely]] {
        DecidingWithOwners{burst, set, core, now}.run();
        if (follows) {
            follow_rest(burst, core, now);
        }
    } else if (follows) [[unlikely]] {
        decide_and_follow(burst, set, core, now);
    } else if (RowsBehindAnswers::may_be_any(set, core)) [[unlikely]] {
        decide_and_answer(burst, set, core, now);
    } else {
        decide(burst, set, core, now);
    }
}

// Bans of sources may have begun since the burst was looked up.
[[gnu::noinline]] void begin_under_bans(Burst& burst, const LoadedSet& set, CoreState& core,
                                        Now now) noexcept {
    burst.scratch().on_sight &= burst.live();
    find_bans_begun(burst, set, core, now);
}
// Rows that were decided on sight count once no ban has come before them.
[[gnu::noinline]] void end_under_bans(const Burst& burst, const LoadedSet& set,
                                      const CoreState& core) noexcept {
    count_banned(burst, set, core);
    if (burst.origin() != Burst::Origin::Pending) {
        count_sighted(burst, ~burst.scratch().banned, set.meter_plan, core);
    }
}

// Locates entries of the look-ups whose keys are not in their first lines.
void find_entries(const Scratch& scratch, CoreState& core, Now now) noexcept {
    core.buckets.keys.probe_second(
        std::span<BucketLookup* const>{scratch.missed.get(), scratch.miss_count},
        core.buckets.registry, now);
}

// A burst that is not empty.
void decide_located(Burst& burst, const LoadedSet& set, CoreState& core, Now now,
                    bool follows) noexcept {
    decide_answered_since(burst, core, now.at);
    find_entries(burst.scratch(), core, now);
    if (burst.units() != nullptr) [[unlikely]] {
        for (Burst& further : burst.units()->further()) {
            find_entries(further.scratch(), core, now);
        }
    }
    if (!set.source_bans.empty()) [[unlikely]] {
        begin_under_bans(burst, set, core, now);
    }
    decide_all(burst, set, core, now, follows);
    if (!set.source_bans.empty()) [[unlikely]] {  // asked anew: nothing is kept over the loops
        end_under_bans(burst, set, core);
    }
    if (set.reports_limits && core.events != nullptr) [[unlikely]] {
        note_refusals(burst, set, core, now);
    }
    if (core.watching != nullptr) [[unlikely]] {
        heat_burst(burst, set, core, now);
    }
    const auto packets = static_cast<std::size_t>(std::popcount(burst.live()));
    if (core.sampler != nullptr && core.sampler->is_due(packets, now.at)) [[unlikely]] {
        sample_burst(burst, set, core, now);
    }
}

}  // namespace

// Changes between locating and deciding are found by the general path.
void meter_burst(Burst& burst, const LoadedSet& set, CoreState& core, Now now) noexcept {
    adopt(set, core, now);
    tend(core, now);
    const bool follows = follows_connections(set, core);
    if (follows) [[unlikely]] {
        poll_connections(core, now);
        if (core.answered != nullptr) {
            follow_resets(core, now);
        }
    }
    if (burst.size() != 0) {
        decide_located(burst, set, core, now, follows);
    }
    if (core.answered != nullptr) {
        core.answered->forget_ends();
    }
    if (follows) [[unlikely]] {
        core.recent_openings.forget(burst);
        count_connections(core);
    }
}

}  // namespace sluice
