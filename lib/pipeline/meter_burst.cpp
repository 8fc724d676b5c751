#include "lib/pipeline/adopt.hpp"
#include "lib/pipeline/burst_units.hpp"
#include "lib/pipeline/decide_fast.hpp"
#include "lib/pipeline/decide_general.hpp"
#include "lib/pipeline/judged_packet.hpp"
#include "lib/pipeline/sample_burst.hpp"
#include "lib/pipeline/stages.hpp"

#include <span>

namespace sluice {
namespace {

[[gnu::noinline]] void decide_row(Burst& burst, std::size_t row, const LoadedSet& set,
                                  CoreState& core, Now now) noexcept {
    const PacketLooks of = looks_of_packet(burst, row, set);
    burst.packets()[row].decision = decide_general(of, set, core, now);
    for (std::size_t number = 0; of.units.size() > 1 && number < of.units.size(); ++number) {
        burst.units()->decision(row, number) = of.units[number].decision;
    }
    for (const JudgedUnit& unit : of.units) {
        Scratch& scratch = unit.burst->scratch();
        for (const Match& match : unit.matches) {
            ActiveRule& active = scratch.rules[scratch.active_of[match.rule]];
            active.refused |= match.refused ? row_bit(unit.row) : 0;
        }
    }
}

// Whether a packet repeats bytes that were refused, by what has become of all packets before it.
[[gnu::noinline]] bool repeats_refused(Burst& burst, std::size_t row, FastPath& fast) noexcept {
    fast.write_admitted();
    burst.units()->settle(burst, burst.live() & first_rows(row));
    return burst.units()->repeats_refused(row);
}

// Packet by packet, in arrival order: what one packet spends, the next one sees.
void decide(Burst& burst, const LoadedSet& set, CoreState& core, Now now) noexcept {
    const Scratch& scratch = burst.scratch();
    FastPath fast{burst, set, core, now};
    const RowMask rows = burst.live() & ~scratch.decided;
    const RowMask following = burst.following();
    fast.admit(rows & ~(scratch.general | scratch.looked_up));
    for_each_row(rows & (scratch.general | scratch.looked_up), [&](std::size_t row) {
        if (has_row(scratch.general, row) || !fast.decide(row)) [[unlikely]] {
            if (has_row(following, row) && repeats_refused(burst, row, fast)) {
                burst.packets()[row].decision = dropped_for(Reason::Retransmission);
            } else {
                decide_row(burst, row, set, core, now);
            }
        }
    });
    fast.finish();
    if (burst.units() != nullptr) [[unlikely]] {
        burst.units()->settle(burst, burst.live());
    }
}

// Of the look-ups whose keys are not in their first lines.
void find_entries(const Scratch& scratch, CoreState& core, Now now) noexcept {
    core.buckets.keys.probe_second(
        std::span<BucketLookup* const>{scratch.missed.get(), scratch.miss_count},
        core.buckets.registry, now);
}

// What the tables do once per burst.
void tend(CoreState& core, Now now) noexcept {
    if (core.buckets.begin_burst(now)) [[unlikely]] {
        core.counters.settled.set(core.buckets.settled_changes());
    }
}

}  // namespace

// What changes between locating and deciding, the general path finds out.
void meter_burst(Burst& burst, const LoadedSet& set, CoreState& core, Now now) noexcept {
    adopt(set, core, now);
    tend(core, now);
    if (burst.size() == 0) {
        return;
    }
    const Scratch& scratch = burst.scratch();
    find_entries(scratch, core, now);
    if (burst.units() != nullptr) [[unlikely]] {
        for (Burst& further : burst.units()->further()) {
            find_entries(further.scratch(), core, now);
        }
    }
    decide(burst, set, core, now);
    const auto packets = static_cast<std::size_t>(std::popcount(burst.live()));
    if (core.sampler != nullptr && core.sampler->is_due(packets, now.at)) [[unlikely]] {
        sample_burst(burst, set, core, now);
    }
}

}  // namespace sluice
