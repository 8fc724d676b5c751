#include "lib/bucket/table/previous_tables.hpp"

#include "lib/bucket/meter/penalty.hpp"

#include <algorithm>
#include <utility>

namespace sluice {

PreviousTables::PreviousTables(std::vector<Store> stores, Instant until)
    : stores_{std::move(stores)}, until_{until} {}

// Buckets of one process's workers add up; what a later process has includes what it took over of
// the earlier.
template <typename EntryIn>
Units PreviousTables::used_in_all(const LimitRegistry& registry, Now now, const AnyLimit* present,
                                  EntryIn&& entry_in) const noexcept {
    Units most{0};
    Units used{0};
    const Store* before = nullptr;
    for (const Store& store : stores_) {
        if (before != nullptr && before->process != store.process) {
            used = Units{0};
        }
        before = &store;
        const Entry entry = entry_in(store.buckets);
        if (!entry.empty()) {
            used = used + registry.used_of(entry, store.buckets.registry.pool(), now, present);
        }
        most = std::max(most, used);
    }
    return most;
}

Units PreviousTables::used(const BucketAt& at, const LimitRegistry& registry, Now now,
                           const AnyLimit* present) const noexcept {
    if (at.of_rule) {
        return used_in_all(registry, now, nullptr, [&](const BucketStore& buckets) {
            return buckets.rule_entry(slot_of(at.key));
        });
    }
    // All lines are prefetched before the first is read.
    for (const Store& store : stores_) {
        (void)table_of(store.buckets, at.aggregation_level).prefetch_both(at.key);
    }
    return used_in_all(registry, now, present, [&](const BucketStore& buckets) {
        return table_of(buckets, at.aggregation_level).read(at.key);
    });
}

std::optional<OneLine> PreviousTables::meter_of(const BucketAt& at, const LimitRegistry& registry,
                                                Now now) const noexcept {
    if (at.of_rule || at.aggregation_level != 0) {
        return std::nullopt;
    }
    std::optional<OneLine> latest;
    const Store* of = nullptr;
    for (const Store& store : stores_) {
        const Entry entry = store.buckets.keys.read(at.key);
        const std::optional<ColorMeter> meter =
            entry.empty() ? std::nullopt : registry.meter_of(entry, store.buckets.registry.pool());
        if (!meter || meter->fresh_from() <= now.at) {
            continue;
        }
        if (of != nullptr && of->process == store.process) {
            return std::nullopt;
        }
        of = &store;
        latest = line_of(*meter);
    }
    return latest;
}

Instant PreviousTables::fresh_from(const BucketAt& at, const LimitRegistry& registry,
                                   Now now) const noexcept {
    Instant latest{};
    for (const Store& store : stores_) {
        const Entry entry = at.of_rule ? store.buckets.rule_entry(slot_of(at.key))
                                       : table_of(store.buckets, at.aggregation_level).read(at.key);
        const Instant fresh = entry.empty()
                                  ? Instant{}
                                  : registry.fresh_from_of(entry, store.buckets.registry.pool());
        latest = fresh > now.at ? std::max(latest, fresh) : latest;
    }
    return latest;
}

Nanoseconds PreviousTables::ban_left(const TableKey& key, Instant now) const noexcept {
    Nanoseconds left{0};
    for (const Store& store : stores_) {
        const Entry entry = store.buckets.keys.read(key);
        const Cell cell = entry.cell();
        if (!entry.empty() && PenaltyMeter::banned(cell, now)) {
            left = std::max(left, cell.fresh_from - now);
        }
    }
    return left;
}

void PreviousTables::end(const BucketAt& at) const noexcept {
    for (const Store& store : stores_) {
        table_of(store.buckets, at.aggregation_level).end(at.key);
    }
}

bool PreviousTables::coarsened(Instant now) const noexcept {
    return std::any_of(stores_.begin(), stores_.end(),
                       [now](const Store& store) { return store.buckets.coarsened(now); });
}

std::uint64_t PreviousTables::entries_of(LimitSlot slot) const noexcept {
    std::uint64_t entries = 0;
    for (const Store& store : stores_) {
        entries += store.buckets.registry.entries_of(slot).read();
    }
    return entries;
}

bool PreviousTables::is_released(std::size_t cores) const noexcept {
    return std::all_of(released_.begin(), released_.begin() + static_cast<std::ptrdiff_t>(cores),
                       [](const Signal& signal) { return signal.raised(); });
}

}  // namespace sluice
