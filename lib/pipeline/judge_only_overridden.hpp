#pragma once
#include "lib/pipeline/judge_only.hpp"
#include "lib/pipeline/judge_overridden.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

// judge_overridden() where all packets meet the rule (LoadedSet::has_one_way()), as judge_only() is
// for others. Rows are judged kind by kind (Scratch::seen): which kind comes next nobody could
// predict. All packets of a key are of one kind, so they keep their order; who comes before whom
// matters between keys only where a new bucket is wanted, and those are of no kind, and come last.
namespace sluice {

class JudgeOnlyOverridden {
public:
    JudgeOnlyOverridden(Burst& burst, const LoadedSet& set, CoreState& core, Now now) noexcept
        : packets_{burst.packets()},
          looks_{burst.scratch().looks.get()},
          rule_{set.quick.front()},
          by_{rule_, core.buckets, now},
          counters_{core.counters.rules[rule_.counters]},
          core_{core},
          now_{now},
          tell_wait_{core.policy.tell_wait && !forwards(rule_.on_exceed)},
          left_{static_cast<Rows>((std::uint64_t{1} << packets_.size()) - 1)} {
        // Of whom nothing else is said below.
        for (Packet& packet : packets_) {
            packet.decision = kWithinLimits;
        }
    }

    // The rows of which it is known what is said of their keys, unless that has changed since.
    void judge_seen(const Scratch::Seen& seen) noexcept {
        left_ &= ~(seen.ordinary | seen.own | seen.exempt);
        pass_exempt(seen.exempt);
        settle(judge_ordinary(seen.ordinary));
        settle(rule_.per_byte ? take(seen.own, FromOwn<false>{by_})
                              : take(seen.own, FromOwn<true>{by_}));
    }

    // The others, up to the first that takes the long way: its row; the number of packets: there is
    // none.
    [[nodiscard]] std::size_t go_on() noexcept {
        const Rows rows = left_;
        left_ = 0;
        const Rows stopped = judge_rows(rows);
        left_ = stopped & (stopped - 1);
        return stopped == 0 ? packets_.size() : first_of(stopped);
    }

    // Of those that it judged.
    [[nodiscard]] std::size_t exempt_count() const noexcept { return exempt_count_; }

private:
    using Rows = std::uint32_t;  // a bit each
    using Outcome = OverriddenLooks::Outcome;

    [[nodiscard]] static std::size_t first_of(Rows rows) noexcept {
        return static_cast<std::size_t>(std::countr_zero(rows));
    }

    void pass_exempt(Rows rows) noexcept {
        const auto count = static_cast<std::size_t>(std::popcount(rows));
        exempt_count_ += count;
        for (; rows != 0; rows &= rows - 1) {
            const std::size_t row = first_of(rows);
            looks_[row].asked = false;
            packets_[row].decision = Decision{};
        }
        counters_.admitted.add(count);
        counters_.exempted.add(count);
    }

    // What a bucket says of a look, and notes in it.
    template <typename Take>
    struct FromOrdinary {
        OverriddenLooks by;
        Take take;
        [[nodiscard, gnu::always_inline]] Outcome operator()(Look& look) const noexcept {
            return by.is_ordinary(look) ? OverriddenLooks::noted(look, take(look) == Taken::All)
                                        : Outcome::Long;
        }
    };
    template <bool kOneUnit>
    struct FromOwn {
        OverriddenLooks by;
        [[nodiscard, gnu::always_inline]] Outcome operator()(Look& look) const noexcept {
            return by.judge_own<kOneUnit>(look);
        }
    };

    struct Judged {
        Rows admitted = 0;
        Rows refused = 0;
        Rows left = 0;
    };
    // By value, so that no store can change it.
    template <typename From>
    [[nodiscard]] Judged take(Rows rows, const From from) const noexcept {
        Look* const looks = looks_;
        Judged judged;
        for (; rows != 0; rows &= rows - 1) {
            const Outcome outcome = from(looks[first_of(rows)]);
            const Rows row = rows & -rows;
            if (outcome == Outcome::Admitted) [[likely]] {
                judged.admitted |= row;
            } else {
                (outcome == Outcome::Refused ? judged.refused : judged.left) |= row;
            }
        }
        return judged;
    }
    [[nodiscard]] Judged judge_ordinary(Rows rows) const noexcept {
        if (!by_.knows_ordinary()) {
            return {.left = rows};
        }
        return rule_.per_byte ? take(rows, FromOrdinary<AnyUnits>{by_, {rule_, now_.at}})
                              : take(rows, FromOrdinary<OneUnit<TakeOne>>{by_, {rule_, now_.at}});
    }
    void settle(const Judged& judged) noexcept {
        left_ |= judged.left;
        counters_.admitted.add(static_cast<std::uint64_t>(std::popcount(judged.admitted)));
        counters_.exceeded.add(static_cast<std::uint64_t>(std::popcount(judged.refused)));
        for (Rows rows = judged.refused; rows != 0; rows &= rows - 1) {
            refuse(first_of(rows));
        }
    }

    // Up to the first that it cannot judge: that and those behind it.
    [[nodiscard]] Rows judge_rows(Rows rows) noexcept {
        const OverriddenLooks by = by_;
        std::array<std::uint64_t, 3> counts{};
        for (; rows != 0; rows &= rows - 1) {
            const std::size_t row = first_of(rows);
            Packet& packet = packets_[row];
            if (is_malformed(packet.flow.parsed)) [[unlikely]] {
                packet.decision = decide_malformed(packet.flow.parsed, core_.policy);
                continue;
            }
            const Outcome outcome = by.judge(looks_[row], packet.flow);
            if (outcome == Outcome::Long) [[unlikely]] {
                break;
            }
            ++counts[static_cast<std::size_t>(outcome)];
            if (outcome == Outcome::Refused) {
                refuse(row);
            } else if (outcome == Outcome::Exempt) {
                packet.decision = Decision{};
            }
        }
        counters_.admitted.add(counts[0] + counts[2]);
        counters_.exceeded.add(counts[1]);
        counters_.exempted.add(counts[2]);
        exempt_count_ += counts[2];
        return rows;
    }

    void refuse(std::size_t row) noexcept {
        packets_[row].decision = refusal_by(rule_, 0);
        packets_[row].decision.wait = tell_wait_ ? by_.wait_of(looks_[row]) : Nanoseconds{};
    }

    const std::span<Packet> packets_;
    Look* const looks_;
    const QuickRule rule_;
    const OverriddenLooks by_;
    RuleCounters& counters_;
    CoreState& core_;
    const Now now_;
    const bool tell_wait_;
    Rows left_;
    std::size_t exempt_count_ = 0;
};

}  // namespace sluice
