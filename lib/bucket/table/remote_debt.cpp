#include "lib/bucket/table/remote_debt.hpp"

#include "lib/bucket/meter/distinct_values.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <variant>

namespace sluice {
namespace {

// Charges a fresh bucket with what its key owes elsewhere, exactly where that is possible.
void owe(Cell& cell, const AnyLimit& numbers, const Owed& owed, LinePool& pool, Now now) noexcept {
    if (owed.bucket && gcra_of(numbers) != nullptr) {
        if (owed.bucket->fresh_from > std::max(cell.fresh_from, now.at)) {
            cell = {owed.bucket->fresh_from, owed.bucket->below};
        }
        return;
    }
    if (owed.line && cell.fresh_from <= now.at) {
        pool.at<std::array<std::byte, kLineBytes>>(cell.rest) = owed.line->bytes;
        cell.fresh_from = owed.line->fresh_from;
        return;
    }
    // All of it counts as used now, so that nothing of it ends too early.
    use_at_least(cell, numbers, pool, now, owed.used);
}

}  // namespace

// Under its own slot; and under those before, unless a worker has an entry there: that one took
// over what they owed.
Units RemoteDebt::used_in_earlier(const BucketAt& at, const Owed& before,
                                  const AnyLimit* present) const noexcept {
    const PreviousTables* previous = store_.previous();
    if (previous == nullptr) {
        return Units{0};
    }
    Units most = previous->used(at, store_.registry, now_, present);
    for (const MigratedFrom& from : moved(slot_of(at.key))) {
        if (!before.found) {
            most = std::max(
                most, previous->used(with_slot(at, from.slot), store_.registry, now_, present));
        }
    }
    return most;
}

// Units say too little of a colour meter, which has two buckets.
Owed RemoteDebt::meter_in_earlier(const BucketAt& at) const noexcept {
    const PreviousTables* previous = store_.previous();
    return {.line =
                previous == nullptr ? std::nullopt : previous->meter_of(at, store_.registry, now_)};
}

Owed RemoteDebt::owed_before(const BucketAt& at) const noexcept {
    return store_.worker_tables() == nullptr
               ? Owed{}
               : store_.worker_tables()->owed_before(at, store_.registry, now_);
}

Units RemoteDebt::used(const BucketAt& at) const noexcept {
    const Owed owed = owed_before(at);
    return std::max(used_in_earlier(at, owed), owed.used);
}

Instant RemoteDebt::fresh_from(const BucketAt& at) const noexcept {
    Instant latest{};
    if (store_.worker_tables() != nullptr) {
        latest = store_.worker_tables()->fresh_before(at, store_.registry, now_);
    }
    if (store_.previous() == nullptr) {
        return latest;
    }
    latest = std::max(latest, store_.previous()->fresh_from(at, store_.registry, now_));
    for (const MigratedFrom& from : moved(slot_of(at.key))) {
        latest = std::max(
            latest, store_.previous()->fresh_from(with_slot(at, from.slot), store_.registry, now_));
    }
    return latest;
}

// Values that count at this worker go on passing; of those elsewhere their number is known alone.
void RemoteDebt::take_values(Cell& cell, const DistinctLimit& limit, const BucketAt& at,
                             LinePool& pool) const noexcept {
    const std::span<const MigratedFrom> before = moved(slot_of(at.key));
    if (before.empty() || at.aggregation_level != 0 || at.of_rule) {
        return;
    }
    const Entry entry = store_.keys.peek(with_slot(at.key, before.front().slot));
    if (entry.empty() || entry.idle(now_.at) || !store_.registry.knows(entry.slot())) {
        return;
    }
    DistinctValues& values = pool.at<DistinctValues>(cell.rest);
    values.move_to(limit, pool, now_.at);
    values.note_all(limit, pool, now_.at, pool.at<DistinctValues>(entry.cell().rest));
    cell.fresh_from = values.fresh_from(limit, now_.at);
}

RemoteDebt::Taken RemoteDebt::charge_to(Cell& cell, const AnyLimit& numbers, const BucketAt& at,
                                        LinePool& pool) const noexcept {
    const Owed owed = owed_before(at);
    if (const auto* distinct = std::get_if<DistinctLimit>(&numbers)) {
        take_values(cell, *distinct, at, pool);
    }
    const bool of_limit =
        at.aggregation_level != 0 || numbers == *store_.registry.row(slot_of(at.key)).limit;
    owe(cell, numbers, of_limit ? owed : Owed{.found = owed.found, .used = owed.used}, pool, now_);
    const Owed meter = meter_in_earlier(at);
    owe(cell, numbers, meter, pool, now_);
    const Units used = used_in_earlier(at, owed, at.aggregation_level == 0 ? &numbers : nullptr);
    use_at_least(cell, numbers, pool, now_, used);
    return {.in_earlier = used != Units{0} || meter.line.has_value(),
            .at_workers = owed.used != Units{0} || owed.line.has_value()};
}

RemoteDebt::Taken RemoteDebt::charge_wider_to(Cell& cell, const AnyLimit& numbers,
                                              const BucketAt& wider,
                                              LinePool& pool) const noexcept {
    const Owed owed = others_coarsened() ? owed_before(wider) : Owed{};
    const bool coarsened = store_.former_coarsened(now_.at);
    const Units used = coarsened ? used_in_earlier(wider, owed) : Units{0};
    // At most its own numbers: what wider keys owe is not this key's own.
    use_at_least(cell, numbers, pool, now_, std::min(std::max(used, owed.used), most_of(numbers)));
    return {.in_earlier = used != Units{0}, .at_workers = owed.used != Units{0}};
}

bool RemoteDebt::arrives(const BucketAt& at) const noexcept {
    return store_.worker_tables() != nullptr &&
           store_.worker_tables()->is_on_its_way(at, store_.registry);
}

void RemoteDebt::end(const BucketAt& at) const noexcept {
    if (store_.worker_tables() != nullptr) {
        store_.worker_tables()->end_before(at, store_.registry);
    }
    if (store_.previous() == nullptr) {
        return;
    }
    store_.previous()->end(at);
    for (const MigratedFrom& from : moved(slot_of(at.key))) {
        store_.previous()->end(with_slot(at, from.slot));
    }
}

Units RemoteDebt::held_by_others(const BucketAt& at) const noexcept {
    return store_.worker_tables() == nullptr
               ? Units{0}
               : store_.worker_tables()->used_by_others(at, Combine::Sum, store_, now_);
}

bool RemoteDebt::others_have(const BucketAt& at) const noexcept {
    return store_.worker_tables() != nullptr && store_.worker_tables()->others_have(at, store_);
}

bool RemoteDebt::others_coarsened() const noexcept {
    return store_.worker_tables() != nullptr && store_.worker_tables()->coarsened(now_.at);
}

Nanoseconds RemoteDebt::ban_in_earlier(const TableKey& key) const noexcept {
    const PreviousTables* previous = store_.previous();
    if (previous == nullptr) {
        return Nanoseconds{0};
    }
    Nanoseconds left = previous->ban_left(key, now_.at);
    for (const MigratedFrom& from : moved(slot_of(key))) {
        left = std::max(left, previous->ban_left(with_slot(key, from.slot), now_.at));
    }
    return left;
}

Nanoseconds RemoteDebt::ban_at_workers(const TableKey& key) const noexcept {
    return store_.worker_tables() == nullptr
               ? Nanoseconds{0}
               : store_.worker_tables()->ban_left(key, store_.registry, now_.at);
}

}  // namespace sluice
