#pragma once
#include "lib/load/loaded_set.hpp"
#include "lib/meter/bucket_in.hpp"
#include "lib/meter/take.hpp"
#include "lib/pipeline/burst.hpp"
#include "lib/pipeline/core_state.hpp"
#include "lib/pipeline/open_plain.hpp"

#include <algorithm>
#include <span>

// The short way for what most packets meet: enforcing rules of one token bucket each, whose entries
// are where they were seen. Decides and charges in one step, so nothing need be held.
namespace sluice {

// What the packets of a burst are judged with. By value, and passed on by value to what is not
// inlined: so that a worker keeps it in registers, whatever it writes.
struct PlainJudging {
    const QuickRule* rules;
    RuleCounters* counters;
    Look* looks;
    BucketStore* buckets;
    Now now;
    bool stale;  // entries may carry former numbers: theirs are looked at
    bool tell_wait;

    PlainJudging(const LoadedSet& set, CoreState& core, const Scratch& scratch, Now at) noexcept
        : rules{set.quick.data()},
          counters{core.counters.rules.get()},
          looks{scratch.looks.get()},
          buckets{&core.buckets},
          now{at},
          stale{core.buckets.tenants.stale()},
          tell_wait{core.policy.tell_wait} {}
};

// A rule that matches, and its one look.
struct PlainMatch {
    const QuickRule& rule;
    Look& look;
    RuleCounters& counters;
    bool skipped;

    [[gnu::always_inline]] PlainMatch(const Match& of, const PlainJudging& judging) noexcept
        : rule{judging.rules[of.rule]},
          look{judging.looks[of.first]},
          counters{judging.counters[rule.counters]},
          skipped{of.skipped} {}

    // Whether the rule is of that kind and its bucket at hand.
    [[nodiscard]] [[gnu::always_inline]] bool is_plain(const PlainJudging& judging) const noexcept {
        return rule.plain && is_at_hand(judging);
    }
    // Whether the rule counts this packet and has its bucket at hand, which is then written under
    // the numbers in force.
    [[nodiscard]] [[gnu::always_inline]] bool is_at_hand(
        const PlainJudging& judging) const noexcept {
        return !skipped && look.entry != nullptr && look.entry->filed() == look.key.filed &&
               look.cost != Units{0} &&
               (!judging.stale ||
                make_current(*look.entry, rule.version, judging.buckets->tenants, judging.now));
    }
    // Writes the bucket under the numbers in force, if it is not. (Of no object, so that none need
    // lie in memory.)
    [[nodiscard, gnu::noinline]] static bool make_current(Entry& entry, std::uint8_t version,
                                                          Tenants& tenants, Now now) noexcept {
        if (entry.stamp().version == version) {
            return true;
        }
        tenants.update(entry, now);
        return entry.stamp().version == version;
    }
};

// How long a packet that it refuses would have to wait.
[[nodiscard, gnu::noinline]] inline Nanoseconds wait_for(const Look& look, const Limit& limit,
                                                         Instant now) noexcept {
    const Cell cell = look.entry->cell();
    return wait(bucket_in(cell, limit), limit, now, look.cost).value_or(kNever);
}

inline constexpr Decision kWithinLimits{.reason = Reason::WithinLimits};

// What a rule says to a packet that a bucket of its has no room for, but for the wait.
[[nodiscard, gnu::always_inline]] inline Decision refusal_by(const QuickRule& rule,
                                                             std::uint32_t index) noexcept {
    return {.verdict = rule.on_exceed, .reason = Reason::OverLimit, .rule = index, .tag = rule.tag};
}

// What a rule says to a packet that its bucket has no room for.
[[gnu::always_inline]] inline void refuse(Packet& packet, std::uint32_t rule, const PlainMatch& by,
                                          const PlainJudging& judging) noexcept {
    by.counters.exceeded.add(1);
    packet.decision = refusal_by(by.rule, rule);
    if (judging.tell_wait && !forwards(by.rule.on_exceed)) [[unlikely]] {
        packet.decision.wait = wait_for(by.look, *by.rule.limit, judging.now.at);
    }
}

// A bucket for a plain rule's key that has none yet.
[[nodiscard]] [[gnu::always_inline]] inline bool opens(const PlainMatch& by,
                                                       const PlainJudging& judging) noexcept {
    return !by.skipped && by.rule.plain && by.look.entry == nullptr &&
           open_plain(by.look, by.rule, *judging.buckets, judging.now);
}

// One rule: whatever it says.
[[nodiscard]] [[gnu::always_inline]] inline bool judge_one(Packet& packet, const Match& match,
                                                           const PlainJudging& judging) noexcept {
    const PlainMatch by{match, judging};
    if (!by.is_plain(judging) && !opens(by, judging)) [[unlikely]] {
        return false;
    }
    if (take(*by.look.entry, *by.rule.limit, judging.now.at, by.look.cost)) {
        by.counters.admitted.add(1);
        packet.decision = kWithinLimits;
        return true;
    }
    refuse(packet, match.rule, by, judging);
    return true;
}

// Whether the buckets of all are still there: one that was opened may have taken the place of
// another that was idle.
[[nodiscard, gnu::noinline]] inline bool all_at_hand(std::span<const Match> matches,
                                                     PlainJudging judging) noexcept {
    return std::all_of(matches.begin(), matches.end(), [&](const Match& match) {
        const Look& look = judging.looks[match.first];
        return look.entry->filed() == look.key.filed;
    });
}

// Several rules that all admit: each has a bucket of its own, so what one takes the others do not
// miss.
[[nodiscard, gnu::noinline]] inline bool judge_several(Packet& packet,
                                                       std::span<const Match> matches,
                                                       PlainJudging judging) noexcept {
    bool opened = false;
    for (const Match& match : matches) {
        const PlainMatch by{match, judging};
        if (!by.is_plain(judging)) [[unlikely]] {
            if (!opens(by, judging)) {
                return false;
            }
            opened = true;
        }
        if (!fits(*by.look.entry, *by.rule.limit, judging.now.at, by.look.cost)) {
            return false;
        }
    }
    if (opened && !all_at_hand(matches, judging)) [[unlikely]] {
        return false;
    }
    for (const Match& match : matches) {
        const PlainMatch by{match, judging};
        take_fitting(*by.look.entry, *by.rule.limit, judging.now.at, by.look.cost);
        by.counters.admitted.add(1);
    }
    packet.decision = kWithinLimits;
    return true;
}

// False: nothing has been done, and the long way is to be taken.
[[nodiscard]] [[gnu::always_inline]] inline bool judge_plain(Packet& packet,
                                                             std::span<const Match> matches,
                                                             const PlainJudging& judging) noexcept {
    if (matches.size() == 1) [[likely]] {
        return judge_one(packet, matches.front(), judging);
    }
    return !matches.empty() && judge_several(packet, matches, judging);
}

}  // namespace sluice
