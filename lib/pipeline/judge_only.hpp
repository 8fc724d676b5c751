#pragma once
#include "lib/pipeline/judge_plain.hpp"
#include "lib/pipeline/judge_slow.hpp"
#include "lib/pipeline/take_ahead.hpp"

#include <cstddef>
#include <cstdint>

// judge_plain() where all packets meet one rule (LoadedSet::has_one_way()): what it says is held by
// value, and what it counts is counted once for a burst. Matches are not asked: where there is
// nothing to count, a look has found nobody's entry.
namespace sluice {

// What the rule's one limit takes for a packet: one unit, by TakeOne or TakeOneInParts.
template <typename Take>
class OneUnit {
public:
    OneUnit(const QuickRule& rule, Instant now) noexcept : take_{*rule.limit, now} {}
    [[nodiscard, gnu::always_inline]] Taken operator()(const Look& look) const noexcept {
        return take_(*look.entry) ? Taken::All : Taken::Nothing;
    }

private:
    Take take_;
};
class AnyUnits {
public:
    AnyUnits(const QuickRule& rule, Instant now) noexcept : limit_{*rule.limit}, now_{now} {}
    [[nodiscard, gnu::always_inline]] Taken operator()(const Look& look) const noexcept {
        return take(*look.entry, limit_, now_, look.cost) ? Taken::All : Taken::Nothing;
    }

private:
    Limit limit_;
    Instant now_;
};

// The packets of a burst from the first on. Whoever meets one that takes the long way goes on
// behind it.
template <typename Take>
class JudgeOnly {
public:
    JudgeOnly(Burst& burst, const LoadedSet& set, CoreState& core, Now now,
              const Take& take) noexcept
        : burst_{burst}, rule_{set.quick.front()}, core_{core}, now_{now}, take_{take} {}

    // Judges up to the first packet that takes the long way, and says its row; the number of
    // packets: there is none.
    [[nodiscard]] std::size_t go_on(std::size_t row) noexcept {
        const std::span<Packet> packets = burst_.packets();
        Look* const looks = burst_.scratch().looks.get();
        const bool stale = core_.buckets.tenants.stale();
        const Decision refused = refusal_by(rule_, 0);
        const bool tell_wait = core_.policy.tell_wait && !forwards(rule_.on_exceed);
        std::uint64_t admitted = 0;
        std::uint64_t exceeded = 0;
        for (; row != packets.size(); ++row) {
            Look& look = looks[row];
            if (look.entry == nullptr) [[unlikely]] {
                if (is_malformed(packets[row].flow.parsed)) {
                    packets[row].decision =
                        decide_malformed(packets[row].flow.parsed, core_.policy);
                    continue;
                }
                if (!rule_.plain || !open_plain(look, rule_, core_.buckets, now_)) {
                    break;
                }
            } else if (look.entry->filed() != look.key.filed || (stale && !is_current(*look.entry)))
                [[unlikely]] {
                break;
            }
            const Taken taken = take_(look);
            if (taken == Taken::Unknown) [[unlikely]] {
                break;
            }
            if (taken == Taken::All) {
                ++admitted;
                packets[row].decision = kWithinLimits;
            } else {
                ++exceeded;
                packets[row].decision = refused;
                if (tell_wait) [[unlikely]] {
                    packets[row].decision.wait = wait_for(look, *rule_.limit, now_.at);
                }
            }
        }
        RuleCounters& counters = core_.counters.rules[rule_.counters];
        counters.admitted.add(admitted);
        counters.exceeded.add(exceeded);
        return row;
    }

private:
    [[nodiscard]] bool is_current(Entry& entry) noexcept {
        return PlainMatch::make_current(entry, rule_.version, core_.buckets.tenants, now_);
    }

    Burst& burst_;
    const QuickRule& rule_;
    CoreState& core_;
    const Now now_;
    const Take take_;
};

}  // namespace sluice
