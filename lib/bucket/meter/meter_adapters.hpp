#pragma once
#include "lib/bucket/meter/any_meter.hpp"
#include "lib/bucket/meter/bucket_in.hpp"
#include "lib/bucket/meter/color_meter.hpp"
#include "lib/bucket/meter/connection_meter.hpp"
#include "lib/bucket/meter/fixed_window.hpp"
#include "lib/bucket/meter/gcra.hpp"
#include "lib/bucket/meter/penalty.hpp"
#include "lib/bucket/meter/sliding_counters.hpp"
#include "lib/bucket/meter/sliding_log.hpp"
#include "lib/bucket/meter/sliding_window.hpp"

#include <algorithm>

// One adapter for each way a meter keeps its state; all have the same members, so that every
// function of any_meter.cpp is one visit.
namespace sluice {

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
    static void close(const Cell& /*cell*/, LinePool& /*pool*/) noexcept {}
    Conformance check(Cell& cell, LinePool& /*pool*/, Now now, Demand demand) const noexcept {
        return admits(bucket(cell), limit.gcra, now.at, demand.cost) ? Conformance::Green
                                                                     : Conformance::Red;
    }
    void charge(Cell& cell, LinePool& /*pool*/, Now now, Spending spending) const noexcept {
        Gcra bucket = this->bucket(cell);
        sluice::charge(bucket, limit.gcra, now.at, spending.cost);
        keep(cell, bucket);
    }
    void charge_what_fits(Cell& cell, LinePool& /*pool*/, Now now, Units cost) const noexcept {
        Gcra bucket = this->bucket(cell);
        sluice::charge_what_fits(bucket, limit.gcra, now.at, cost);
        keep(cell, bucket);
    }
    void give_back(Cell& cell, LinePool& /*pool*/, Now now, Units units) const noexcept {
        Gcra bucket = this->bucket(cell);
        sluice::give_back(bucket, limit.gcra, now.at, units);
        keep(cell, bucket);
    }
    [[nodiscard]] bool forgive_excess(Cell& cell, LinePool& /*pool*/, Now now) const noexcept {
        Gcra bucket = this->bucket(cell);
        const bool exceeded = sluice::forgive_excess(bucket, limit.gcra, now.at);
        keep(cell, bucket);
        return exceeded;
    }
    [[nodiscard]] Units most() const noexcept { return Units{limit.gcra.burst()}; }
    [[nodiscard]] Units remaining(const Cell& cell, const auto& /*pool*/, Now now) const noexcept {
        return sluice::remaining(bucket(cell), limit.gcra, now.at);
    }
    [[nodiscard]] Units used(const Cell& cell, const auto& /*pool*/, Now now) const noexcept {
        return sluice::used(bucket(cell), limit.gcra, now.at);
    }
    void use_at_least(Cell& cell, LinePool& /*pool*/, Now now, Units units) const noexcept {
        Gcra bucket = this->bucket(cell);
        sluice::use_at_least(bucket, limit.gcra, now.at, units);
        keep(cell, bucket);
    }
    [[nodiscard]] std::optional<Nanoseconds> wait(const Cell& cell, const LinePool& /*pool*/,
                                                  Now now, Demand demand) const noexcept {
        return sluice::wait(bucket(cell), limit.gcra, now.at, demand.cost);
    }
    void renumber(Cell& cell, const AnyGcraLimit& from, LinePool& /*pool*/,
                  Now changed) const noexcept {
        Gcra bucket = bucket_in(cell, from.gcra);
        sluice::renumber(bucket, from.gcra, limit.gcra, changed.at);
        // What may be a lease goes on as one.
        const bool leased = from.gcra.parts() == 1 && limit.gcra.parts() == 1;
        cell = {bucket.fresh_from, leased ? cell.rest : bucket.below};
    }
    void leave_at_most(Cell& cell, LinePool& /*pool*/, Now now, Units most) const noexcept {
        Gcra bucket = this->bucket(cell);
        sluice::leave_at_most(bucket, limit.gcra, now.at, most);
        keep(cell, bucket);
    }
};

inline void close_line(const Cell& cell, LinePool& pool) noexcept {
    if (cell.rest != kNoLine) {
        pool.give_back(cell.rest);
    }
}

inline bool take_line(Cell& cell, LinePool& pool, Now now) noexcept {
    cell = {now.at, pool.take()};
    return cell.rest != kNoLine;
}

// Instants are enough for the one, a fixed window wants to know UTC as well.
inline Instant time_for(const SlidingWindowLimit& /*limit*/, Now now) noexcept {
    return now.at;
}
inline Now time_for(const FixedWindowLimit& /*limit*/, Now now) noexcept {
    return now;
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
    static void close(const Cell& cell, LinePool& pool) noexcept { close_line(cell, pool); }
    Conformance check(Cell& cell, LinePool& pool, Now now, Demand demand) const noexcept {
        const State& state = pool.at<State>(cell.rest);
        return state.admits(limit, time_for(limit, now), demand.cost) ? Conformance::Green
                                                                      : Conformance::Red;
    }
    void charge(Cell& cell, LinePool& pool, Now now, Spending spending) const noexcept {
        State& state = pool.at<State>(cell.rest);
        state.charge(limit, time_for(limit, now), spending.cost);
        cell.fresh_from = state.fresh_from(limit, time_for(limit, now));
    }
    void charge_what_fits(Cell& cell, LinePool& pool, Now now, Units cost) const noexcept {
        charge(cell, pool, now, {std::min(cost, remaining(cell, pool, now))});
    }
    void give_back(Cell& cell, LinePool& pool, Now now, Units units) const noexcept {
        State& state = pool.at<State>(cell.rest);
        state.give_back(limit, time_for(limit, now), units);
        cell.fresh_from = state.fresh_from(limit, time_for(limit, now));
    }
    [[nodiscard]] bool forgive_excess(Cell& cell, LinePool& pool, Now now) const noexcept {
        State& state = pool.at<State>(cell.rest);
        const bool exceeded = state.forgive_excess(limit, time_for(limit, now));
        cell.fresh_from = state.fresh_from(limit, time_for(limit, now));
        return exceeded;
    }
    [[nodiscard]] Units most() const noexcept { return Units{limit.numbers.count}; }
    [[nodiscard]] Units remaining(const Cell& cell, const auto& pool, Now now) const noexcept {
        return pool.template at<State>(cell.rest).remaining(limit, time_for(limit, now));
    }
    [[nodiscard]] Units used(const Cell& cell, const auto& pool, Now now) const noexcept {
        return pool.template at<State>(cell.rest).used(limit, time_for(limit, now));
    }
    void use_at_least(Cell& cell, LinePool& pool, Now now, Units units) const noexcept {
        const Units before = used(cell, pool, now);
        if (before < units) {
            charge(cell, pool, now, {Units{units.count() - before.count()}});
        }
    }
    [[nodiscard]] std::optional<Nanoseconds> wait(const Cell& cell, const LinePool& pool, Now now,
                                                  Demand demand) const noexcept {
        return pool.at<State>(cell.rest).wait(limit, time_for(limit, now), demand.cost);
    }
    // Counts mean the same under any numbers.
    static void renumber(Cell& /*cell*/, const WindowLimit& /*from*/, LinePool& /*pool*/,
                         Now /*changed*/) noexcept {}
    void leave_at_most(Cell& cell, LinePool& pool, Now now, Units most) const noexcept {
        const Units left = remaining(cell, pool, now);
        if (left > most) {
            charge(cell, pool, now, {Units{left.count() - most.count()}});
        }
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
    static void close(const Cell& cell, LinePool& pool) noexcept {
        if (cell.rest != kNoLine) {
            pool.at<State>(cell.rest).close(pool);
            pool.give_back(cell.rest);
        }
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
        state.charge(slots, pool, now.at, spending.cost);
        cell.fresh_from = state.fresh_from(slots, now.at);
    }
    void charge_what_fits(Cell& cell, LinePool& pool, Now now, Units cost) const noexcept {
        const Slots slots{limit};
        State& state = pool.at<State>(cell.rest);
        state.make_way(slots, pool, now.at, cost);
        const Units fits = state.what_fits(slots, cost);
        if (fits.count() != 0) {
            // Without a line for it the charge lasts longer, which is all it can do.
            (void)state.make_room(slots, pool, now.at);
            charge(cell, pool, now, {fits});
        }
    }
    void give_back(Cell& cell, LinePool& pool, Now now, Units units) const noexcept {
        const Slots slots{limit};
        State& state = pool.at<State>(cell.rest);
        state.give_back(slots, pool, now.at, units);
        cell.fresh_from = state.fresh_from(slots, now.at);
    }
    [[nodiscard]] bool forgive_excess(Cell& cell, LinePool& pool, Now now) const noexcept {
        const Slots slots{limit};
        State& state = pool.at<State>(cell.rest);
        const bool exceeded = state.forgive_excess(slots, pool, now.at);
        cell.fresh_from = state.fresh_from(slots, now.at);
        return exceeded;
    }
    [[nodiscard]] Units most() const noexcept { return Units{limit.numbers.count}; }
    [[nodiscard]] Units remaining(const Cell& cell, const auto& pool, Now now) const noexcept {
        return pool.template at<State>(cell.rest).remaining(Slots{limit}, pool, now.at);
    }
    [[nodiscard]] Units used(const Cell& cell, const auto& pool, Now now) const noexcept {
        return pool.template at<State>(cell.rest).used(Slots{limit}, pool, now.at);
    }
    void use_at_least(Cell& cell, LinePool& pool, Now now, Units units) const noexcept {
        const Units before = used(cell, pool, now);
        if (before < units) {
            // Without a line for it the charge lasts longer, which is all it can do.
            (void)pool.at<State>(cell.rest).make_room(Slots{limit}, pool, now.at);
            charge(cell, pool, now, {Units{units.count() - before.count()}});
        }
    }
    [[nodiscard]] std::optional<Nanoseconds> wait(const Cell& cell, const LinePool& pool, Now now,
                                                  Demand demand) const noexcept {
        return pool.at<State>(cell.rest).wait(Slots{limit}, pool, now.at, demand.cost);
    }
    // Units mean the same under any numbers.
    static void renumber(Cell& /*cell*/, const RecentLimit& /*from*/, LinePool& /*pool*/,
                         Now /*changed*/) noexcept {}
    void leave_at_most(Cell& cell, LinePool& pool, Now now, Units most) const noexcept {
        const Units left = remaining(cell, pool, now);
        if (left > most) {
            charge_what_fits(cell, pool, now, Units{left.count() - most.count()});
        }
    }
};

struct OfColors {
    const ColorLimit& limit;

    static bool open(Cell& cell, LinePool& pool, GroupKey /*key*/, Now now) noexcept {
        return take_line(cell, pool, now);  // zeroes are a fresh state
    }
    static void close(const Cell& cell, LinePool& pool) noexcept { close_line(cell, pool); }
    Conformance check(Cell& cell, LinePool& pool, Now now, Demand demand) const noexcept {
        return pool.at<ColorMeter>(cell.rest).check(limit, now.at, demand);
    }
    void charge(Cell& cell, LinePool& pool, Now now, Spending spending) const noexcept {
        ColorMeter& meter = pool.at<ColorMeter>(cell.rest);
        meter.charge(limit, now.at, spending);
        cell.fresh_from = meter.fresh_from();
    }
    static void charge_what_fits(Cell& /*cell*/, LinePool& /*pool*/, Now /*now*/,
                                 Units /*cost*/) noexcept {}
    void give_back(Cell& cell, LinePool& pool, Now now, Units units) const noexcept {
        ColorMeter& meter = pool.at<ColorMeter>(cell.rest);
        meter.give_back(limit, now.at, units);
        cell.fresh_from = meter.fresh_from();
    }
    [[nodiscard]] bool forgive_excess(Cell& cell, LinePool& pool, Now now) const noexcept {
        ColorMeter& meter = pool.at<ColorMeter>(cell.rest);
        const bool exceeded = meter.forgive_excess(limit, now.at);
        cell.fresh_from = meter.fresh_from();
        return exceeded;
    }
    [[nodiscard]] Units most() const noexcept { return ColorMeter{}.remaining(limit, Instant{}); }
    [[nodiscard]] Units remaining(const Cell& cell, const auto& pool, Now now) const noexcept {
        return pool.template at<ColorMeter>(cell.rest).remaining(limit, now.at);
    }
    // As far as either bucket has it: what it lacks of a full one.
    [[nodiscard]] Units used(const Cell& cell, const auto& pool, Now now) const noexcept {
        return Units{most().count() - std::min(most(), remaining(cell, pool, now)).count()};
    }
    void use_at_least(Cell& cell, LinePool& pool, Now now, Units units) const noexcept {
        if (units != Units{0}) {
            leave_at_most(cell, pool, now, Units{most().count() - std::min(most(), units).count()});
        }
    }
    [[nodiscard]] std::optional<Nanoseconds> wait(const Cell& cell, const LinePool& pool, Now now,
                                                  Demand demand) const noexcept {
        return pool.at<ColorMeter>(cell.rest).wait(limit, now.at, demand);
    }
    void renumber(Cell& cell, const ColorLimit& from, LinePool& pool, Now changed) const noexcept {
        ColorMeter& meter = pool.at<ColorMeter>(cell.rest);
        meter.renumber(from, limit, changed.at);
        cell.fresh_from = meter.fresh_from();
    }
    void leave_at_most(Cell& cell, LinePool& pool, Now now, Units most) const noexcept {
        ColorMeter& meter = pool.at<ColorMeter>(cell.rest);
        meter.leave_at_most(limit, now.at, most);
        cell.fresh_from = meter.fresh_from();
    }
};

inline InCell<TokenBucketLimit> meter_of(const TokenBucketLimit& limit) noexcept {
    return {limit};
}
inline InCell<LeakyBucketLimit> meter_of(const LeakyBucketLimit& limit) noexcept {
    return {limit};
}
inline OnOneLine<FixedWindow, FixedWindowLimit> meter_of(const FixedWindowLimit& limit) noexcept {
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
inline PenaltyMeter meter_of(const PenaltyLimit& limit) noexcept {
    return PenaltyMeter{limit};
}

}  // namespace sluice
