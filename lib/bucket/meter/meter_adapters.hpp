#pragma once
#include "lib/bucket/meter/any_meter.hpp"
#include "lib/bucket/meter/bucket_in.hpp"
#include "lib/bucket/meter/color_meter.hpp"
#include "lib/bucket/meter/connection_meter.hpp"
#include "lib/bucket/meter/distinct_meter.hpp"
#include "lib/bucket/meter/fixed_window.hpp"
#include "lib/bucket/meter/gcra.hpp"
#include "lib/bucket/meter/meter.hpp"
#include "lib/bucket/meter/penalty.hpp"
#include "lib/bucket/meter/sliding_counters.hpp"
#include "lib/bucket/meter/sliding_log.hpp"
#include "lib/bucket/meter/sliding_window.hpp"
#include "lib/bucket/meter/window_time.hpp"

#include <algorithm>
#include <concepts>
#include <utility>

// One adapter for each way a meter keeps its state, with the seven operations of the concept Meter;
// everything else that any_meter.hpp offers is made of them.
namespace sluice {

// The units that a fresh bucket has.
template <typename Numbers>
[[nodiscard]] Units most_of(const Numbers& limit) noexcept {
    if constexpr (requires { limit.gcra; }) {
        return Units{limit.gcra.burst()};
    } else if constexpr (requires { limit.numbers.count; }) {
        return Units{limit.numbers.count};
    } else {
        return limit.most();
    }
}

// Token and leaky bucket: the cell is the state.
template <typename AnyGcraLimit>
struct InCell {
    const AnyGcraLimit& limit;

    [[nodiscard]] Gcra bucket(const Cell& at) const noexcept { return bucket_in(at, limit.gcra); }
    void keep(Cell& at, const Gcra& state) const noexcept { put_bucket(at, state, limit.gcra); }

    static bool open(Cell& cell, LinePool& /*pool*/, GroupKey /*key*/, Now now) noexcept {
        cell = {now.at, 0};
        return true;
    }
    Conformance check(Cell& cell, LinePool& /*pool*/, Now now, Demand demand) const noexcept {
        return admits(bucket(cell), limit.gcra, now.at, demand.cost) ? Conformance::Green
                                                                     : Conformance::Red;
    }
    void charge(Cell& cell, LinePool& /*pool*/, Now now, Spending spending) const noexcept {
        Gcra bucket = this->bucket(cell);
        if (spending.conformance == Conformance::Red) {
            charge_what_fits(bucket, limit.gcra, now.at, spending.cost);
        } else {
            sluice::charge(bucket, limit.gcra, now.at, spending.cost);
        }
        keep(cell, bucket);
    }
    void use_at_least(Cell& cell, LinePool& /*pool*/, Now now, Units units) const noexcept {
        Gcra bucket = this->bucket(cell);
        sluice::use_at_least(bucket, limit.gcra, now.at, units);
        keep(cell, bucket);
    }
    bool relieve(Cell& cell, LinePool& /*pool*/, Now now, Relief relief) const noexcept {
        Gcra bucket = this->bucket(cell);
        const bool relieved = sluice::relieve(bucket, limit.gcra, now.at, relief);
        keep(cell, bucket);
        return relieved;
    }
    [[nodiscard]] Units used(const Cell& cell, const auto& /*pool*/, Now now) const noexcept {
        return sluice::used(bucket(cell), limit.gcra, now.at);
    }
    [[nodiscard]] std::optional<Nanoseconds> wait(const Cell& cell, const LinePool& /*pool*/,
                                                  Now now, Demand demand) const noexcept {
        return sluice::wait(bucket(cell), limit.gcra, now.at, demand.cost);
    }

    void renumber(Cell& cell, const AnyGcraLimit& from, LinePool& /*pool*/,
                  Now changed) const noexcept {
        Gcra bucket = bucket_in(cell, from.gcra);
        sluice::renumber(bucket, from.gcra, limit.gcra, changed.at);
        // A rest that may be a lease goes on as one.
        const bool leased = from.gcra.parts() == 1 && limit.gcra.parts() == 1;
        cell = {bucket.fresh_from, leased ? cell.rest : bucket.below};
    }
};

inline bool take_line(Cell& cell, LinePool& pool, Now now) noexcept {
    cell = {now.at, pool.take()};
    return cell.rest != kNoLine;
}

// Fixed and sliding window: one line.
template <typename State, typename WindowLimit>
struct OnOneLine {
    const WindowLimit& limit;

    bool open(Cell& cell, LinePool& pool, GroupKey key, Now now) const noexcept {
        if (!take_line(cell, pool, now)) {
            return false;
        }
        if constexpr (std::is_same_v<State, FixedWindow>) {
            pool.at<State>(cell.rest) = State::fresh(limit, key);
        } else {
            pool.at<State>(cell.rest) = State{};
        }
        return true;
    }
    Conformance check(Cell& cell, LinePool& pool, Now now, Demand demand) const noexcept {
        const State& state = pool.at<State>(cell.rest);
        return state.admits(limit, time_for(limit, now), demand.cost) ? Conformance::Green
                                                                      : Conformance::Red;
    }
    void charge(Cell& cell, LinePool& pool, Now now, Spending spending) const noexcept {
        State& state = pool.at<State>(cell.rest);
        if (spending.conformance == Conformance::Red) [[unlikely]] {
            spending.cost = what_fits(state, now, spending.cost);
        }
        state.charge(limit, time_for(limit, now), spending.cost);
        cell.fresh_from = fresh_from(cell, pool, now);
    }
    void use_at_least(Cell& cell, LinePool& pool, Now now, Units units) const noexcept {
        const Units before = used(cell, pool, now);
        if (before < units) {
            charge(cell, pool, now, {Units{units.count() - before.count()}});
        }
    }
    bool relieve(Cell& cell, LinePool& pool, Now now, Relief relief) const noexcept {
        State& state = pool.at<State>(cell.rest);
        if (relief.units != Units{0}) {
            state.give_back(limit, time_for(limit, now), relief.units);
        }
        const bool exceeded = relief.excess && state.forgive_excess(limit, time_for(limit, now));
        cell.fresh_from = fresh_from(cell, pool, now);
        return exceeded;
    }
    [[nodiscard]] Units used(const Cell& cell, const auto& pool, Now now) const noexcept {
        return pool.template at<State>(cell.rest).used(limit, time_for(limit, now));
    }
    [[nodiscard]] std::optional<Nanoseconds> wait(const Cell& cell, const LinePool& pool, Now now,
                                                  Demand demand) const noexcept {
        return pool.at<State>(cell.rest).wait(limit, time_for(limit, now), demand.cost);
    }

    [[nodiscard]] Instant fresh_from(const Cell& cell, const LinePool& pool,
                                     Now now) const noexcept {
        return fresh_instant(pool.at<State>(cell.rest), limit, now);
    }
    // Counts mean the same under any; days of another zone begin elsewhere.
    void renumber(Cell& cell, const WindowLimit& from, LinePool& pool, Now changed) const noexcept
        requires std::same_as<WindowLimit, DayWindowLimit>
    {
        if (from.zone != limit.zone) {
            pool.at<State>(cell.rest).renumber(from, limit, changed);
            cell.fresh_from = fresh_from(cell, pool, changed);
        }
    }

private:
    [[nodiscard, gnu::noinline, gnu::cold]] Units what_fits(const State& state, Now now,
                                                            Units cost) const noexcept {
        return std::min(cost, state.remaining(limit, time_for(limit, now)));
    }
};

// Sub-windows and log: a line and a queue of them.
template <typename Slots, typename RecentLimit>
struct OnManyLines {
    using State = RecentUnits<Slots>;
    const RecentLimit& limit;

    static bool open(Cell& cell, LinePool& pool, GroupKey /*key*/, Now now) noexcept {
        if (!take_line(cell, pool, now)) {
            return false;
        }
        pool.at<State>(cell.rest).begin(now.at);  // zeroes are fresh else
        return true;
    }
    Conformance check(Cell& cell, LinePool& pool, Now now, Demand demand) const noexcept {
        const Slots slots{limit};
        State& state = pool.at<State>(cell.rest);
        state.make_way(slots, pool, now.at, demand.cost);
        if (!state.admits(slots, demand.cost)) {
            return Conformance::Red;
        }
        return state.make_room(slots, pool, now.at) ? Conformance::Green : Conformance::NoRoom;
    }
    void charge(Cell& cell, LinePool& pool, Now now, Spending spending) const noexcept {
        const Slots slots{limit};
        State& state = pool.at<State>(cell.rest);
        if (spending.conformance == Conformance::Red) [[unlikely]] {
            spending.cost = what_fits(state, pool, now, spending.cost);
        }
        state.charge(slots, pool, now.at, spending.cost);
        cell.fresh_from = state.fresh_from(slots, now.at);
    }
    void use_at_least(Cell& cell, LinePool& pool, Now now, Units units) const noexcept {
        const Units before = used(cell, pool, now);
        if (before < units) {
            // Without a line for it the charge lasts longer, which is all it can do.
            (void)pool.at<State>(cell.rest).make_room(Slots{limit}, pool, now.at);
            charge(cell, pool, now, {Units{units.count() - before.count()}});
        }
    }
    bool relieve(Cell& cell, LinePool& pool, Now now, Relief relief) const noexcept {
        const Slots slots{limit};
        State& state = pool.at<State>(cell.rest);
        state.give_back(slots, pool, now.at, relief.units);
        const bool exceeded = relief.excess && state.forgive_excess(slots, pool, now.at);
        cell.fresh_from = state.fresh_from(slots, now.at);
        return exceeded;
    }
    [[nodiscard]] Units used(const Cell& cell, const auto& pool, Now now) const noexcept {
        return pool.template at<State>(cell.rest).used(Slots{limit}, pool, now.at);
    }
    [[nodiscard]] std::optional<Nanoseconds> wait(const Cell& cell, const LinePool& pool, Now now,
                                                  Demand demand) const noexcept {
        return pool.at<State>(cell.rest).wait(Slots{limit}, pool, now.at, demand.cost);
    }

    [[nodiscard]] Instant fresh_from(const Cell& cell, const LinePool& pool,
                                     Now now) const noexcept {
        return pool.at<State>(cell.rest).fresh_from(Slots{limit}, now.at);
    }
    static void close(const Cell& cell, LinePool& pool) noexcept {
        pool.at<State>(cell.rest).close(pool);
        pool.give_back(cell.rest);
    }
    static void mend(PoolLine line, LinePool& pool, auto&& claim) noexcept {
        pool.at<State>(line).mend(pool, claim);
    }
    static void prefetch_oldest(const Cell& cell, const LinePool& pool) noexcept {
        pool.at<State>(cell.rest).prefetch_oldest(pool);
    }

private:
    // Without a line for it the charge lasts longer, likewise.
    [[nodiscard, gnu::noinline, gnu::cold]] Units what_fits(State& state, LinePool& pool, Now now,
                                                            Units cost) const noexcept {
        const Slots slots{limit};
        state.make_way(slots, pool, now.at, cost);
        const Units fits = state.what_fits(slots, cost);
        if (fits.count() != 0) {
            (void)state.make_room(slots, pool, now.at);
        }
        return fits;
    }
};

struct OfColors {
    const ColorLimit& limit;

    static bool open(Cell& cell, LinePool& pool, GroupKey /*key*/, Now now) noexcept {
        return take_line(cell, pool, now);  // zeroes are a fresh state
    }
    Conformance check(Cell& cell, LinePool& pool, Now now, Demand demand) const noexcept {
        return pool.at<ColorMeter>(cell.rest).check(limit, now.at, demand);
    }
    // Red demands are not spent in part: colour meters commit only on forwarding.
    void charge(Cell& cell, LinePool& pool, Now now, Spending spending) const noexcept {
        ColorMeter& meter = pool.at<ColorMeter>(cell.rest);
        if (spending.conformance != Conformance::Red) {
            meter.charge(limit, now.at, spending);
            cell.fresh_from = meter.fresh_from();
        }
    }
    void use_at_least(Cell& cell, LinePool& pool, Now now, Units units) const noexcept {
        const Units most = most_of(limit);
        ColorMeter& meter = pool.at<ColorMeter>(cell.rest);
        if (units != Units{0}) {
            meter.leave_at_most(limit, now.at, Units{most.count() - std::min(most, units).count()});
            cell.fresh_from = meter.fresh_from();
        }
    }
    bool relieve(Cell& cell, LinePool& pool, Now now, Relief relief) const noexcept {
        ColorMeter& meter = pool.at<ColorMeter>(cell.rest);
        meter.give_back(limit, now.at, relief.units);
        const bool exceeded = relief.excess && meter.forgive_excess(limit, now.at);
        cell.fresh_from = meter.fresh_from();
        return exceeded;
    }
    // The units used as far as either bucket has it: what it lacks of a full one.
    [[nodiscard]] Units used(const Cell& cell, const auto& pool, Now now) const noexcept {
        const Units most = most_of(limit);
        const Units left = pool.template at<ColorMeter>(cell.rest).remaining(limit, now.at);
        return Units{most.count() - std::min(most, left).count()};
    }
    [[nodiscard]] std::optional<Nanoseconds> wait(const Cell& cell, const LinePool& pool, Now now,
                                                  Demand demand) const noexcept {
        return pool.at<ColorMeter>(cell.rest).wait(limit, now.at, demand);
    }

    [[nodiscard]] static Instant fresh_from(const Cell& cell, const LinePool& pool,
                                            Now /*now*/) noexcept {
        return pool.at<ColorMeter>(cell.rest).fresh_from();
    }
    void renumber(Cell& cell, const ColorLimit& from, LinePool& pool, Now changed) const noexcept {
        ColorMeter& meter = pool.at<ColorMeter>(cell.rest);
        meter.renumber(from, limit, changed.at);
        cell.fresh_from = meter.fresh_from();
    }
};

template <typename AnyGcraLimit>
    requires requires(AnyGcraLimit limit) { limit.gcra; }
InCell<AnyGcraLimit> meter_of(const AnyGcraLimit& limit) noexcept {
    return {limit};
}
inline OnOneLine<FixedWindow, FixedWindowLimit> meter_of(const FixedWindowLimit& limit) noexcept {
    return {limit};
}
inline OnOneLine<FixedWindow, DayWindowLimit> meter_of(const DayWindowLimit& limit) noexcept {
    return {limit};
}
inline OnOneLine<SlidingWindow, SlidingWindowLimit> meter_of(
    const SlidingWindowLimit& limit) noexcept {
    return {limit};
}
inline OnManyLines<SubWindowSlots, SlidingCountersLimit> meter_of(
    const SlidingCountersLimit& limit) noexcept {
    return {limit};
}
inline OnManyLines<LogSlots, SlidingLogLimit> meter_of(const SlidingLogLimit& limit) noexcept {
    return {limit};
}
inline OfColors meter_of(const ColorLimit& limit) noexcept {
    return {limit};
}
inline ConnectionMeter meter_of(const ConcurrencyLimit& limit) noexcept {
    return {limit};
}
inline DistinctMeter meter_of(const DistinctLimit& limit) noexcept {
    return {limit};
}
inline PenaltyMeter meter_of(const PenaltyLimit& limit) noexcept {
    return PenaltyMeter{limit};
}

template <typename Numbers>
using MeterOf = decltype(meter_of(std::declval<const Numbers&>()));

}  // namespace sluice
