#include "lib/bucket/meter/any_meter.hpp"

#include "lib/bucket/meter/meter_adapters.hpp"

#include <algorithm>
#include <variant>

namespace sluice {
namespace {

// `operation` of the meter that has these numbers.
template <typename Operation>
[[gnu::always_inline]] inline auto with_meter(const AnyLimit& limit,
                                              Operation&& operation) noexcept {
    return std::visit(
        [&operation](const auto& numbers) noexcept {
            static_assert(Meter<MeterOf<std::decay_t<decltype(numbers)>>>);
            return operation(meter_of(numbers));
        },
        limit);
}

Units used_in(const Cell& cell, const AnyLimit& limit, const auto& lines, Now now) noexcept {
    return with_meter(limit, [&](const auto& meter) { return meter.used(cell, lines, now); });
}

Units remaining_in(const Cell& cell, const AnyLimit& limit, const auto& lines, Now now) noexcept {
    return std::visit(
        [&](const auto& numbers) noexcept {
            const Units most = most_of(numbers);
            return Units{most.count() -
                         std::min(most, meter_of(numbers).used(cell, lines, now)).count()};
        },
        limit);
}

}  // namespace

bool open_bucket(Cell& cell, const AnyLimit& limit, LinePool& pool, GroupKey key,
                 Now now) noexcept {
    return with_meter(limit, [&](const auto& meter) { return meter.open(cell, pool, key, now); });
}

void close_bucket(const Cell& cell, const AnyLimit& limit, LinePool& pool) noexcept {
    with_meter(limit, [&]<typename M>(const M& meter) {
        if constexpr (requires { meter.close(cell, pool); }) {
            if (cell.rest != kNoLine) {
                meter.close(cell, pool);
            }
        } else if constexpr (KeepsLines<M>) {
            if (cell.rest != kNoLine) {
                pool.give_back(cell.rest);
            }
        }
    });
}

bool has_queue(const AnyLimit& limit) noexcept {
    return with_meter(limit, [](const auto& meter) {
        return requires(const Cell& cell, const LinePool& pool) {
            meter.prefetch_oldest(cell, pool);
        };
    });
}

void prefetch_oldest(const Cell& cell, const AnyLimit& limit, const LinePool& pool) noexcept {
    with_meter(limit, [&](const auto& meter) {
        if constexpr (requires { meter.prefetch_oldest(cell, pool); }) {
            meter.prefetch_oldest(cell, pool);
        }
    });
}

Conformance check(Cell& cell, const AnyLimit& limit, LinePool& pool, Now now,
                  Demand demand) noexcept {
    return with_meter(limit,
                      [&](const auto& meter) { return meter.check(cell, pool, now, demand); });
}

void charge(Cell& cell, const AnyLimit& limit, LinePool& pool, Now now,
            Spending spending) noexcept {
    with_meter(limit, [&](const auto& meter) { meter.charge(cell, pool, now, spending); });
}

Units most_of(const AnyLimit& limit) noexcept {
    return std::visit([](const auto& numbers) noexcept { return most_of(numbers); }, limit);
}

Units remaining(const Cell& cell, const AnyLimit& limit, const LinePool& pool, Now now) noexcept {
    return remaining_in(cell, limit, pool, now);
}

Units remaining(const Cell& cell, const AnyLimit& limit, const RemoteLines& lines,
                Now now) noexcept {
    return remaining_in(cell, limit, lines, now);
}

Units used(const Cell& cell, const AnyLimit& limit, const LinePool& pool, Now now) noexcept {
    return used_in(cell, limit, pool, now);
}

Units used(const Cell& cell, const AnyLimit& limit, const RemoteLines& lines, Now now) noexcept {
    return used_in(cell, limit, lines, now);
}

void use_at_least(Cell& cell, const AnyLimit& limit, LinePool& pool, Now now,
                  Units units) noexcept {
    const Units most = std::min(units, Units{kMostCount});
    with_meter(limit, [&](const auto& meter) { meter.use_at_least(cell, pool, now, most); });
}

void leave_at_most(Cell& cell, const AnyLimit& limit, LinePool& pool, Now now,
                   Units most) noexcept {
    const Units fresh = most_of(limit);
    if (most < fresh && algorithm_of(limit) != Algorithm::Penalty) {
        use_at_least(cell, limit, pool, now, Units{fresh.count() - most.count()});
    }
}

bool relieve(Cell& cell, const AnyLimit& limit, LinePool& pool, Now now, Relief relief) noexcept {
    return with_meter(limit,
                      [&](const auto& meter) { return meter.relieve(cell, pool, now, relief); });
}

std::optional<Nanoseconds> wait(const Cell& cell, const AnyLimit& limit, const LinePool& pool,
                                Now now, Demand demand) noexcept {
    return with_meter(limit,
                      [&](const auto& meter) { return meter.wait(cell, pool, now, demand); });
}

Instant fresh_from(const Cell& cell, const AnyLimit& limit, const LinePool& pool,
                   Now now) noexcept {
    return with_meter(limit, [&]<typename M>(const M& meter) {
        if constexpr (KeepsLines<M>) {
            return meter.fresh_from(cell, pool, now);
        } else {
            return cell.fresh_from;
        }
    });
}

void renumber(Cell& cell, const AnyLimit& from, const AnyLimit& to, LinePool& pool,
              Now changed) noexcept {
    std::visit(
        [&]<typename Numbers>(const Numbers& numbers) noexcept {
            const auto meter = meter_of(numbers);
            if constexpr (requires(Numbers before) {
                              meter.renumber(cell, before, pool, changed);
                          }) {
                if (const Numbers* before = std::get_if<Numbers>(&from)) {
                    meter.renumber(cell, *before, pool, changed);
                }
            }
        },
        to);
}

}  // namespace sluice
