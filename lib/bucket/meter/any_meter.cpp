#include "lib/bucket/meter/any_meter.hpp"

#include "lib/bucket/meter/meter_adapters.hpp"

#include <algorithm>
#include <variant>

namespace sluice {

bool open_bucket(Cell& cell, const AnyLimit& limit, LinePool& pool, GroupKey key,
                 Now now) noexcept {
    return std::visit(
        [&](const auto& numbers) noexcept { return meter_of(numbers).open(cell, pool, key, now); },
        limit);
}

void close_bucket(const Cell& cell, Algorithm algorithm, LinePool& pool) noexcept {
    switch (algorithm) {
        case Algorithm::TokenBucket:
        case Algorithm::LeakyBucket:
            return;
        case Algorithm::SlidingCounters:
            OnManyLines<SubWindowSlots, SlidingCountersLimit>::close(cell, pool);
            return;
        case Algorithm::SlidingLog:
            OnManyLines<LogSlots, SlidingLogLimit>::close(cell, pool);
            return;
        case Algorithm::Penalty:
            PenaltyMeter::close(cell, pool);
            return;
        case Algorithm::Concurrency:
            ConnectionMeter::close(cell, pool);
            return;
        default:
            close_line(cell, pool);
    }
}

void prefetch_oldest(const Cell& cell, const AnyLimit& limit, const LinePool& pool) noexcept {
    if (std::holds_alternative<SlidingCountersLimit>(limit)) {
        pool.at<SlidingCounters>(cell.rest).prefetch_oldest(pool);
    } else if (std::holds_alternative<SlidingLogLimit>(limit)) {
        pool.at<SlidingLog>(cell.rest).prefetch_oldest(pool);
    }
}

Conformance check(Cell& cell, const AnyLimit& limit, LinePool& pool, Now now,
                  Demand demand) noexcept {
    return std::visit(
        [&](const auto& numbers) noexcept {
            return meter_of(numbers).check(cell, pool, now, demand);
        },
        limit);
}

void charge(Cell& cell, const AnyLimit& limit, LinePool& pool, Now now,
            Spending spending) noexcept {
    std::visit(
        [&](const auto& numbers) noexcept { meter_of(numbers).charge(cell, pool, now, spending); },
        limit);
}

void charge_what_fits(Cell& cell, const AnyLimit& limit, LinePool& pool, Now now,
                      Units cost) noexcept {
    std::visit(
        [&](const auto& numbers) noexcept {
            meter_of(numbers).charge_what_fits(cell, pool, now, cost);
        },
        limit);
}

void give_back(Cell& cell, const AnyLimit& limit, LinePool& pool, Now now, Units units) noexcept {
    std::visit(
        [&](const auto& numbers) noexcept { meter_of(numbers).give_back(cell, pool, now, units); },
        limit);
}

Units most_of(const AnyLimit& limit) noexcept {
    return std::visit([](const auto& numbers) noexcept { return meter_of(numbers).most(); }, limit);
}

Units remaining(const Cell& cell, const AnyLimit& limit, const LinePool& pool, Now now) noexcept {
    return std::visit(
        [&](const auto& numbers) noexcept { return meter_of(numbers).remaining(cell, pool, now); },
        limit);
}

Units remaining(const Cell& cell, const AnyLimit& limit, const RemoteLines& lines,
                Now now) noexcept {
    return std::visit(
        [&](const auto& numbers) noexcept { return meter_of(numbers).remaining(cell, lines, now); },
        limit);
}

Units used(const Cell& cell, const AnyLimit& limit, const LinePool& pool, Now now) noexcept {
    return std::visit(
        [&](const auto& numbers) noexcept { return meter_of(numbers).used(cell, pool, now); },
        limit);
}

Units used(const Cell& cell, const AnyLimit& limit, const RemoteLines& lines, Now now) noexcept {
    return std::visit(
        [&](const auto& numbers) noexcept { return meter_of(numbers).used(cell, lines, now); },
        limit);
}

void use_at_least(Cell& cell, const AnyLimit& limit, LinePool& pool, Now now,
                  Units units) noexcept {
    const Units most = std::min(units, Units{kMostCount});
    std::visit(
        [&](const auto& numbers) noexcept {
            meter_of(numbers).use_at_least(cell, pool, now, most);
        },
        limit);
}

std::optional<Nanoseconds> wait(const Cell& cell, const AnyLimit& limit, const LinePool& pool,
                                Now now, Demand demand) noexcept {
    return std::visit(
        [&](const auto& numbers) noexcept {
            return meter_of(numbers).wait(cell, pool, now, demand);
        },
        limit);
}

void renumber(Cell& cell, const AnyLimit& from, const AnyLimit& to, LinePool& pool,
              Now changed) noexcept {
    std::visit(
        [&](const auto& numbers) noexcept {
            using Numbers = std::decay_t<decltype(numbers)>;
            if (const Numbers* before = std::get_if<Numbers>(&from)) {
                meter_of(numbers).renumber(cell, *before, pool, changed);
            }
        },
        to);
}

bool forgive_excess(Cell& cell, const AnyLimit& limit, LinePool& pool, Now now) noexcept {
    return std::visit(
        [&](const auto& numbers) noexcept {
            return meter_of(numbers).forgive_excess(cell, pool, now);
        },
        limit);
}

void leave_at_most(Cell& cell, const AnyLimit& limit, LinePool& pool, Now now,
                   Units most) noexcept {
    std::visit(
        [&](const auto& numbers) noexcept {
            meter_of(numbers).leave_at_most(cell, pool, now, most);
        },
        limit);
}

}  // namespace sluice
