#include "lib/pipeline/adopt.hpp"
#include "lib/pipeline/judge_only.hpp"
#include "lib/pipeline/judge_only_overridden.hpp"
#include "lib/pipeline/judge_overridden.hpp"
#include "lib/pipeline/judge_shared.hpp"
#include "lib/pipeline/judge_slow.hpp"
#include "lib/pipeline/locate_overridden.hpp"
#include "lib/pipeline/sample_burst.hpp"
#include "lib/pipeline/shared_charge.hpp"
#include "lib/pipeline/stages.hpp"

#include <span>

namespace sluice {
namespace {

// What all packets of a burst have in common for judge_slow().
struct BurstJudging {
    Burst& burst;
    const LoadedSet& set;
    CoreState& core;
    Now now;

    void judge_slow_at(std::size_t row, std::span<Match> matches) const noexcept {
        Packet& packet = burst.packets()[row];
        judge_slow(packet, {.judging = {.set = set, .core = core, .now = now, .packet = packet},
                            .matches = matches,
                            .all_looks = burst.scratch().looks.get()});
    }
};

// Functions of their own, so that their registers are their own. kShared: workers share limits.
// kOverridden: keys of some rules have overrides.
template <bool kShared, bool kOverridden>
[[gnu::noinline]] void judge_all(const BurstJudging& in) noexcept {
    const PlainJudging plain{in.set, in.core, in.burst.scratch(), in.now};
    const MatchSpan* span = in.burst.scratch().spans.data();
    const Match* const matches = in.burst.scratch().matches.get();
    std::size_t row = 0;
    for (Packet& packet : in.burst.packets()) {
        const std::span<const Match> met{matches + span->first, span->count};
        ++span;
        if (!judge_plain(packet, met, plain) &&
            !(kShared && met.size() == 1 &&
              judge_shared(packet, met.front(), plain, *in.core.ledger)) &&
            !(kOverridden && met.size() == 1 && judge_overridden(packet, met.front(), plain)))
            [[unlikely]] {
            in.judge_slow_at(row, in.burst.matches_of(row));
        }
        ++row;
    }
}
// Where all packets meet one rule.
template <typename Quick, typename... How>
[[gnu::noinline]] void judge_only(const BurstJudging& in, const How&... how) noexcept {
    Quick quick{in.burst, in.set, in.core, in.now, how...};
    const std::size_t packets = in.burst.size();
    for (std::size_t row = 0; (row = quick.go_on(row)) != packets; ++row) {
        in.judge_slow_at(row, in.burst.only_match(row));
    }
}

[[gnu::noinline]] void judge_only_overridden(const BurstJudging& in) noexcept {
    Scratch& scratch = in.burst.scratch();
    const Scratch::Seen late = ask_for_missed(scratch, in.set, in.core);
    JudgeOnlyOverridden quick{in.burst, in.set, in.core, in.now};
    quick.judge_seen(scratch.seen);
    quick.judge_seen(late);
    const std::size_t packets = in.burst.size();
    for (std::size_t row = 0; (row = quick.go_on()) != packets;) {
        in.judge_slow_at(row, in.burst.only_match(row));
    }
    scratch.exempt_count = quick.exempt_count();
}

template <typename Take>
void judge_with(const BurstJudging& in, const Take& take) noexcept {
    judge_only<JudgeOnly<Take>>(in, take);
}

void judge_only_own(const BurstJudging& in, const QuickRule& rule) noexcept {
    if (rule.per_byte) {
        judge_with(in, AnyUnits{rule, in.now.at});
    } else if (rule.limit->parts() != 1) {
        judge_with(in, OneUnit<TakeOneInParts>{rule, in.now.at});
    } else {
        judge_with(in, OneUnit<TakeOne>{rule, in.now.at});
    }
}
void judge_only_shared(const BurstJudging& in, const QuickRule& rule) noexcept {
    if (rule.per_byte || rule.limit->parts() != 1) {
        judge_with(in, TakeAhead{rule, in.now.at, *in.core.ledger});
    } else {
        judge_with(in, TakeOneAhead{rule, in.now.at, *in.core.ledger});
    }
}

void judge(const BurstJudging& in) noexcept {
    if (in.set.has_one_way()) {
        const QuickRule& rule = in.set.quick.front();
        if (rule.overrides != nullptr) {
            judge_only_overridden(in);
        } else {
            rule.plain ? judge_only_own(in, rule) : judge_only_shared(in, rule);
        }
    } else if (in.set.has_overrides) {
        in.core.ledger != nullptr ? judge_all<true, true>(in) : judge_all<false, true>(in);
    } else {
        in.core.ledger != nullptr ? judge_all<true, false>(in) : judge_all<false, false>(in);
    }
}

// What the tables do once per burst.
void tend(CoreState& core, Now now) noexcept {
    if (core.buckets.begin_burst(now)) [[unlikely]] {
        core.counters.settled.set(core.buckets.settled_changes());
    }
}

}  // namespace

// What changes before a packet is judged, look_at() finds out.
void meter_burst(Burst& burst, const LoadedSet& set, CoreState& core, Now now) noexcept {
    adopt(set, core, now);
    tend(core, now);
    const Scratch& scratch = burst.scratch();
    core.buckets.keys.probe_second(std::span<Look* const>{scratch.missed.get(), scratch.miss_count},
                                   core.buckets.tenants, now);
    if (core.ledger != nullptr && !scratch.asks_early) [[unlikely]] {
        prefetch_records(scratch, *core.ledger);
    }
    judge({burst, set, core, now});
    const std::size_t packets = burst.packets().size();
    if (core.sampler != nullptr && core.sampler->is_due(packets, now.at)) [[unlikely]] {
        sample_burst(burst, set, core, now);
    }
}

}  // namespace sluice
