#pragma once
#include "lib/base/now.hpp"
#include "lib/bucket/hash/group_key.hpp"
#include "lib/bucket/meter/any_limit.hpp"
#include "lib/bucket/meter/cell.hpp"
#include "lib/bucket/meter/open_connections.hpp"
#include "lib/bucket/meter/relief.hpp"

#include <algorithm>
#include <optional>

namespace sluice {

// Open connections: a line and one for each of them.
struct ConnectionMeter {
    const ConcurrencyLimit& limit;

    // True where a packet that is admitted makes one more count. `start` nullptr: its connection is
    // not known by a name.
    [[nodiscard]] static bool opens_more(const Cell& cell, const LinePool& pool,
                                         const ConnectionStart* start, Now now) noexcept {
        const OpenConnections& state = pool.at<OpenConnections>(cell.rest);
        if (start == nullptr) {
            return true;
        }
        if (start->kind == ConnectionStart::Kind::Opens) {
            return !state.counts_established() &&
                   !state.has(pool, cell.rest, start->digest, now.at);
        }
        return state.completes(pool, cell.rest, *start, now.at);
    }

    bool open(Cell& cell, LinePool& pool, GroupKey /*key*/, Now now) const noexcept {
        cell = {now.at, pool.take()};
        if (cell.rest == kNoLine) {
            return false;
        }
        pool.at<OpenConnections>(cell.rest).begin(limit);
        return true;
    }
    Conformance check(Cell& cell, LinePool& pool, Now now, Demand demand) const noexcept {
        using Kind = ConnectionStart::Kind;
        OpenConnections& state = pool.at<OpenConnections>(cell.rest);
        if (demand.connection == nullptr) {
            return admit(state, pool, now, demand.cost);
        }
        if (demand.connection->kind == Kind::Opens) {
            return check_syn(state, cell.rest, pool, now, demand);
        }
        return state.completes(pool, cell.rest, *demand.connection, now.at)
                   ? admit(state, pool, now, demand.cost)
                   : Conformance::Green;
    }
    void charge(Cell& cell, LinePool& pool, Now now, Spending spending) const noexcept {
        using Kind = ConnectionStart::Kind;
        OpenConnections& state = pool.at<OpenConnections>(cell.rest);
        if (spending.connection == nullptr) {
            const Units cost = spending.conformance == Conformance::Red
                                   ? std::min(spending.cost, remaining(cell, pool, now))
                                   : spending.cost;
            state.add_anonymous(cost.count(), now.at);
        } else if (spending.connection->kind == Kind::Opens) {
            state.open(pool, cell.rest, *spending.connection, now.at);
        } else if (state.completes(pool, cell.rest, *spending.connection, now.at)) {
            state.complete(pool, cell.rest, *spending.connection, now.at);
        }
        cell.fresh_from = state.fresh_from(pool, now.at);
    }
    void use_at_least(Cell& cell, LinePool& pool, Now now, Units units) const noexcept {
        const Units before = used(cell, pool, now);
        if (before < units) {
            charge(cell, pool, now, {Units{units.count() - before.count()}});
        }
    }
    // An open connection stays open, be there more of them than a lowered count.
    bool relieve(Cell& cell, LinePool& pool, Now now, Relief relief) const noexcept {
        OpenConnections& state = pool.at<OpenConnections>(cell.rest);
        if (relief.units != Units{0}) {
            state.make_way(pool, now.at, limit.numbers.count, 0);
            state.give_back(pool, relief.units.count());
            cell.fresh_from = state.fresh_from(pool, now.at);
        }
        return false;
    }
    [[nodiscard]] Units used(const Cell& cell, const auto& pool, Now now) const noexcept {
        return Units{pool.template at<OpenConnections>(cell.rest).used(pool, now.at)};
    }
    [[nodiscard]] std::optional<Nanoseconds> wait(const Cell& cell, const LinePool& pool, Now now,
                                                  Demand demand) const noexcept {
        if (demand.cost.count() > limit.numbers.count) {
            return std::nullopt;
        }
        return pool.at<OpenConnections>(cell.rest).wait(pool, now.at,
                                                        limit.numbers.count - demand.cost.count());
    }

    [[nodiscard]] static Instant fresh_from(const Cell& cell, const LinePool& pool,
                                            Now now) noexcept {
        return pool.at<OpenConnections>(cell.rest).fresh_from(pool, now.at);
    }
    static void close(const Cell& cell, LinePool& pool) noexcept {
        OpenConnections::close(pool, cell.rest);
    }
    void mend(PoolLine line, LinePool& pool, auto&& claim) const noexcept {
        pool.at<OpenConnections>(line).mend(pool, line, limit, claim);
    }

private:
    [[nodiscard]] Units remaining(const Cell& cell, const LinePool& pool, Now now) const noexcept {
        const std::uint64_t open = used(cell, pool, now).count();
        return Units{limit.numbers.count - std::min(open, limit.numbers.count)};
    }
    [[nodiscard]] Conformance admit(OpenConnections& state, LinePool& pool, Now now,
                                    Units cost) const noexcept {
        state.make_way(pool, now.at, limit.numbers.count, cost.count());
        return state.admits(limit.numbers.count, cost.count()) ? Conformance::Green
                                                               : Conformance::Red;
    }
    // One that is known already opens nothing more.
    [[nodiscard]] Conformance check_syn(OpenConnections& state, PoolLine self, LinePool& pool,
                                        Now now, const Demand& demand) const noexcept {
        if (state.has(pool, self, demand.connection->digest, now.at)) {
            return Conformance::Green;
        }
        if (state.counts_established()) {
            state.make_way(pool, now.at, limit.numbers.count, 0);
        } else if (admit(state, pool, now, demand.cost) == Conformance::Red) {
            return Conformance::Red;
        }
        return state.make_room(pool) ? Conformance::Green : Conformance::NoRoom;
    }
};

}  // namespace sluice
