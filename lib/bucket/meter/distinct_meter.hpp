#pragma once
#include "lib/base/now.hpp"
#include "lib/bucket/hash/group_key.hpp"
#include "lib/bucket/meter/cell.hpp"
#include "lib/bucket/meter/distinct_values.hpp"
#include "lib/bucket/meter/relief.hpp"

#include <algorithm>
#include <optional>

namespace sluice {

// Different values: a line, and one for each sixteen of them where they are many. A demand names
// the value that is shown; without one it is for so many of which nothing is known. Its cost is of
// all new values that are charged together: those of the packet's earlier units, and this one.
struct DistinctMeter {
    using State = DistinctValues;
    const DistinctLimit& limit;

    static bool open(Cell& cell, LinePool& pool, GroupKey /*key*/, Now now) noexcept {
        cell = {now.at, pool.take()};  // zeroes are a fresh state
        return cell.rest != kNoLine;
    }
    Conformance check(Cell& cell, LinePool& pool, Now now, Demand demand) const noexcept {
        State& state = pool.at<State>(cell.rest);
        state.move_to(limit, pool, now.at);
        if (state.has(limit, pool, now.at, {demand.value})) {
            return Conformance::Green;
        }
        if (state.used(limit, now.at) + demand.cost.count() > limit.numbers.count) {
            return Conformance::Red;
        }
        return demand.value == 0 || state.make_room(pool, demand.cost.count())
                   ? Conformance::Green
                   : Conformance::NoRoom;
    }
    // A value that is refused is not noted.
    void charge(Cell& cell, LinePool& pool, Now now, Spending spending) const noexcept {
        State& state = pool.at<State>(cell.rest);
        const bool refused = spending.conformance == Conformance::Red;
        state.move_to(limit, pool, now.at);
        if (spending.value == 0) {
            const Units cost =
                refused ? std::min(spending.cost, remaining(state, now)) : spending.cost;
            state.add_unknown(cost.count());
        } else if (!refused) {
            state.note(pool, {spending.value});
        }
        cell.fresh_from = state.fresh_from(limit, now.at);
    }
    // Nothing is known of values that were shown elsewhere.
    void use_at_least(Cell& cell, LinePool& pool, Now now, Units units) const noexcept {
        const Units before = used(cell, pool, now);
        if (before < units) {
            charge(cell, pool, now, {Units{units.count() - before.count()}});
        }
    }
    bool relieve(Cell& cell, LinePool& pool, Now now, Relief relief) const noexcept {
        State& state = pool.at<State>(cell.rest);
        state.move_to(limit, pool, now.at);
        state.give_back(pool, relief.units.count());
        const std::uint64_t used = state.used(limit, now.at);
        const bool exceeds = relief.excess && used > limit.numbers.count;
        if (exceeds) {
            state.give_back(pool, used - limit.numbers.count);
        }
        cell.fresh_from = state.fresh_from(limit, now.at);
        return exceeds;
    }
    [[nodiscard]] Units used(const Cell& cell, const auto& pool, Now now) const noexcept {
        return Units{pool.template at<State>(cell.rest).used(limit, now.at)};
    }
    [[nodiscard]] std::optional<Nanoseconds> wait(const Cell& cell, const LinePool& pool, Now now,
                                                  Demand demand) const noexcept {
        const State& state = pool.at<State>(cell.rest);
        return state.has(limit, pool, now.at, {demand.value})
                   ? Nanoseconds{0}
                   : state.wait(limit, now.at, demand.cost.count());
    }

    [[nodiscard]] Instant fresh_from(const Cell& cell, const LinePool& pool,
                                     Now now) const noexcept {
        return pool.at<State>(cell.rest).fresh_from(limit, now.at);
    }
    static void close(const Cell& cell, LinePool& pool) noexcept {
        pool.at<State>(cell.rest).close(pool);
        pool.give_back(cell.rest);
    }
    static void mend(PoolLine line, LinePool& pool, auto&& claim) noexcept {
        pool.at<State>(line).mend(pool, claim);
    }

private:
    [[nodiscard]] Units remaining(const State& state, Now now) const noexcept {
        const std::uint64_t used = state.used(limit, now.at);
        return Units{limit.numbers.count - std::min(used, limit.numbers.count)};
    }
};

}  // namespace sluice
