#include "lib/bucket/meter/any_meter.hpp"
#include "lib/bucket/meter/bucket_in.hpp"
#include "lib/bucket/meter/fixed_window.hpp"
#include "lib/bucket/table/number_history.hpp"

#include <algorithm>
#include <optional>
#include <variant>

// Entries that this registry's worker does not write, as they would be under the numbers in force.
namespace sluice {

std::optional<Gcra> LimitRegistry::bucket_of(const Entry& entry) const noexcept {
    const SlotRow& row = rows_[entry.slot()];
    const AnyLimit* numbers = numbers_at(*row.limit, row.coarser, entry.stamp().aggregation_level);
    if (numbers == nullptr || gcra_of(*numbers) == nullptr || entry.has_own_numbers()) {
        return std::nullopt;
    }
    const Cell cell = entry.cell();
    if (entry.stamp().version == row.version) {
        return bucket_in(cell, *gcra_of(*numbers));
    }
    Gcra bucket{cell.fresh_from, cell.rest};
    follow_changes(entry.stamp(), row,
                   [&](const AnyLimit& from, const AnyLimit& to, const ChangeEnd& change) {
                       bucket = bucket_in({bucket.fresh_from, bucket.below}, *gcra_of(from));
                       renumber(bucket, *gcra_of(from), *gcra_of(to), change.at);
                       if (change.forgiven) {
                           (void)relieve(bucket, *gcra_of(to), change.at, kExcess);
                       }
                   });
    return bucket;
}

Instant LimitRegistry::fresh_from_of(const Entry& entry) const noexcept {
    const std::optional<Gcra> bucket = knows(entry.slot()) ? bucket_of(entry) : std::nullopt;
    return bucket ? bucket->fresh_from : entry.fresh_from();
}

Instant LimitRegistry::fresh_from_of(const Entry& entry, const LinePool& pool) const noexcept {
    const std::optional<ColorMeter> meter =
        is_over(entry) || tells_when_fresh(entry) ? std::nullopt : meter_of(entry, pool);
    return meter ? meter->fresh_from() : fresh_from_of(entry);
}

// Windows count under any numbers; so only buckets that fill at a rate owe longer under a lower
// one.
bool LimitRegistry::tells_when_fresh(const Entry& entry) const noexcept {
    const SlotRow& row = rows_[entry.slot()];
    return entry.stamp().version == row.version ||
           (gcra_of(*row.limit) == nullptr && algorithm_of(*row.limit) != Algorithm::ColorMeter);
}

std::optional<ColorMeter> LimitRegistry::meter_in(const Entry& entry,
                                                  const auto& pool) const noexcept {
    if (!knows(entry.slot()) || is_over(entry) || entry.stamp().aggregation_level != 0) {
        return std::nullopt;
    }
    const SlotRow& row = rows_[entry.slot()];
    if (algorithm_of(*row.limit) != Algorithm::ColorMeter) {
        return std::nullopt;
    }
    ColorMeter meter = pool.template at<ColorMeter>(entry.cell().rest);
    if (entry.stamp().version != row.version) {
        follow_changes(entry.stamp(), row,
                       [&](const AnyLimit& from, const AnyLimit& to, const ChangeEnd& change) {
                           const auto& next = std::get<ColorLimit>(to);
                           meter.renumber(std::get<ColorLimit>(from), next, change.at);
                           if (change.forgiven) {
                               (void)meter.forgive_excess(next, change.at);
                           }
                       });
    }
    return meter;
}

std::optional<ColorMeter> LimitRegistry::meter_of(const Entry& entry,
                                                  const LinePool& pool) const noexcept {
    return meter_in(entry, pool);
}

std::optional<ColorMeter> LimitRegistry::meter_of(const Entry& entry,
                                                  const RemoteLines& lines) const noexcept {
    return meter_in(entry, lines);
}

// The units used, as take_own() and give_up_own() would bring them under the numbers that count.
Units LimitRegistry::used_of_own(const OwnBucket& bucket, const SlotRow& row, Now now,
                                 const AnyLimit* present) const noexcept {
    const Result<Limit> own = bucket.checked_limit();
    if (!own) {
        return Units{0};
    }
    const bool ended = Nanoseconds{bucket.until} <= now.utc();
    const Limit* next = ended                ? gcra_of(*row.limit)
                        : present != nullptr ? gcra_of(*present)
                                             : nullptr;
    if (next == nullptr || bucket.has(*next)) {
        return used(bucket.state, *own, now.at);
    }
    Gcra state = bucket.state;
    const Instant changed = changed_at(bucket, now);
    renumber(state, *own, *next, changed);
    if (!ended && row.latest.forgives_own) {
        (void)relieve(state, *next, changed, kExcess);
    }
    return used(state, *next, now.at);
}

// The units used in days, which begin elsewhere where their zone is another by now.
Units LimitRegistry::used_of_days(const Entry& entry, const AnyLimit& numbers, const auto& pool,
                                  Now now) const noexcept {
    FixedWindow window = pool.template at<FixedWindow>(entry.cell().rest);
    if (entry.stamp().version != rows_[entry.slot()].version) {
        follow_changes(entry.stamp(), rows_[entry.slot()],
                       [&](const AnyLimit& from, const AnyLimit& to, const ChangeEnd& change) {
                           const auto& before = std::get<DayWindowLimit>(from);
                           const auto& after = std::get<DayWindowLimit>(to);
                           if (before.zone != after.zone) {
                               window.renumber(before, after, now.moved_to(change.at));
                           }
                       });
    }
    return window.used(std::get<DayWindowLimit>(numbers), now);
}

// A bucket that cannot be converted here matters only by what was used, which the counting
// algorithms keep under any numbers.
Units LimitRegistry::used_in(const Entry& entry, const auto& pool, Now now,
                             const AnyLimit* present) const noexcept {
    const LimitSlot slot = entry.slot();
    if (!knows(slot)) {
        return Units{0};
    }
    const SlotRow& row = rows_[slot];
    if (is_over(entry)) {
        return Units{0};
    }
    if (entry.has_own_numbers()) {
        return used_of_own(pool.template at<OwnBucket>(entry.cell().rest), row, now, present);
    }
    if (entry.idle(now.at) && tells_when_fresh(entry)) {
        return Units{0};
    }
    const AnyLimit* numbers = numbers_at(*row.limit, row.coarser, entry.stamp().aggregation_level);
    if (numbers == nullptr) {
        return Units{0};
    }
    if (const std::optional<ColorMeter> meter = meter_in(entry, pool)) {
        const Units most = most_of(*numbers);
        const Units left = meter->remaining(std::get<ColorLimit>(*numbers), now.at);
        return Units{most.count() - std::min(most, left).count()};
    }
    Cell cell = entry.cell();
    if (const std::optional<Gcra> bucket = bucket_of(entry)) {
        cell = {bucket->fresh_from, bucket->below};
    }
    const Units units = std::holds_alternative<DayWindowLimit>(*numbers)
                            ? used_of_days(entry, *numbers, pool, now)
                            : used(cell, *numbers, pool, now);
    return is_forgiven(entry)
               ? std::min(units, most_of(*numbers_at(*row.limit, row.coarser,
                                                     entry.stamp().aggregation_level)))
               : units;
}

Units LimitRegistry::used_of(const Entry& entry, const LinePool& pool, Now now,
                             const AnyLimit* present) const noexcept {
    return used_in(entry, pool, now, present);
}

Units LimitRegistry::used_of(const Entry& entry, const RemoteLines& lines, Now now) const noexcept {
    return used_in(entry, lines, now, nullptr);
}

}  // namespace sluice
