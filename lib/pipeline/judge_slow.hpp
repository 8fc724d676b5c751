#pragma once
#include "lib/load/loaded_set.hpp"
#include "lib/pipeline/core_state.hpp"
#include "lib/pipeline/look_at.hpp"
#include "lib/pipeline/scratch.hpp"

#include <span>

namespace sluice {

// The rules that match one packet, and where their looks lie.
struct Judged {
    Judging judging;
    std::span<Match> matches;
    Look* all_looks;  // of the burst

    [[nodiscard]] const LoadedRule& rule(const Match& match) const noexcept {
        return judging.set.rules[match.rule];
    }
    [[nodiscard]] RuleCounters& counters(const Match& match) const noexcept {
        return judging.core.counters.rules[rule(match).counters];
    }
    [[nodiscard]] BanCounters& bans(const Match& match) const noexcept {
        return judging.core.counters.bans[rule(match).counters];
    }
    [[nodiscard]] std::span<Look> looks(const Match& match) const noexcept {
        return {&all_looks[match.first], rule(match).limits.size()};
    }
};

// What becomes of a malformed packet, which no rule sees.
[[nodiscard]] Decision decide_malformed(Parsed parsed, const PacketPolicy& policy) noexcept;

// The long way, for whatever comes: fills in packet.decision and charges.
void judge_slow(Packet& packet, Judged judged) noexcept;

}  // namespace sluice
