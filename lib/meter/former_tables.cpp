#include "lib/meter/former_tables.hpp"

#include "lib/meter/penalty.hpp"

#include <algorithm>
#include <utility>

namespace sluice {

FormerTables::FormerTables(std::vector<Store> stores, Instant until)
    : stores_{std::move(stores)}, until_{until} {}

// Of one process the workers' buckets add up; what a later process has includes what it took over
// of the earlier.
template <typename EntryIn>
Units FormerTables::used_in_all(const Tenants& tenants, Now now,
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
        if (!entry.empty() && !entry.idle(now.at)) {
            used = used + tenants.used_of(entry, store.buckets.tenants.pool(), now);
        }
        most = std::max(most, used);
    }
    return most;
}

Units FormerTables::used(const FiledKey& key, std::uint8_t step, const Tenants& tenants,
                         Now now) const noexcept {
    // All lines are asked for before the first is read.
    for (const Store& store : stores_) {
        (void)table_of(store.buckets, step).prefetch_both(key);
    }
    return used_in_all(tenants, now, [&](const BucketStore& buckets) {
        return table_of(buckets, step).read(key);
    });
}

Units FormerTables::used_by_rule(LimitSlot slot, const Tenants& tenants, Now now) const noexcept {
    return used_in_all(tenants, now,
                       [slot](const BucketStore& buckets) { return buckets.rule_entry(slot); });
}

Nanoseconds FormerTables::ban_left(const FiledKey& key, Instant now) const noexcept {
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

void FormerTables::forget(const FiledKey& key, std::uint8_t step) const noexcept {
    for (const Store& store : stores_) {
        table_of(store.buckets, step).end(key);
    }
}

bool FormerTables::coarsened(Instant now) const noexcept {
    return std::any_of(stores_.begin(), stores_.end(),
                       [now](const Store& store) { return store.buckets.coarsened(now); });
}

std::uint64_t FormerTables::entries_of(LimitSlot slot) const noexcept {
    std::uint64_t entries = 0;
    for (const Store& store : stores_) {
        entries += store.buckets.tenants.entries_of(slot).read();
    }
    return entries;
}

bool FormerTables::is_let_go(std::size_t cores) const noexcept {
    return std::all_of(let_go_.begin(), let_go_.begin() + static_cast<std::ptrdiff_t>(cores),
                       [](const Signal& signal) { return signal.raised(); });
}

}  // namespace sluice
