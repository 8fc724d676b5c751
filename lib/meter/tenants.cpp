#include "lib/meter/tenants.hpp"

#include <algorithm>

namespace sluice {

Tenants::Tenants(std::size_t pool_lines)
    : live_{std::make_unique<Counter[]>(kSlots)}, pool_{pool_lines} {}

void Tenants::adopt(std::span<const SlotRow> rows, std::uint64_t changes, Instant now) noexcept {
    rows_ = rows;
    // Changes that came and went between two bursts were never judged by.
    const std::uint64_t missed = std::min<std::uint64_t>(changes - changes_, changed_.size());
    for (std::uint64_t i = 0; i < missed; ++i) {
        changed_[(changes - i) % changed_.size()] = now;
    }
    stale_ = stale_ || missed != 0;
    changes_ = changes;
}

void Tenants::update_slow(Entry& entry, Now now) noexcept {
    const LimitSlot slot = entry.slot();
    const bool known = slot < rows_.size() && rows_[slot].limit != nullptr;
    if (known && entry.stamp().version != rows_[slot].version) {
        renumber_entry(entry, rows_[slot], now);
    }
}

bool Tenants::forget_slow(Entry& entry, Now now) noexcept {
    if (entry.held()) {
        return false;
    }
    if (entry.empty()) {
        return true;
    }
    update(entry, now);
    if (!entry.idle(now.at)) {
        return false;
    }
    evict(entry);
    return true;
}

void Tenants::evict(Entry& entry) noexcept {
    const LimitSlot slot = entry.slot();
    live_[slot].set(live_[slot].read() - 1);
    if (slot < rows_.size() && rows_[slot].limit != nullptr) {
        close_bucket(entry.cell(), algorithm_of(*rows_[slot].limit), pool_);
    }
    entry.clear();
}

// Step by step through the numbers that were in force since the entry was written.
void Tenants::renumber_entry(Entry& entry, const SlotRow& row, Now now) noexcept {
    const auto [version, step] = entry.stamp();
    std::size_t at = 0;
    while (at < row.former.size() && row.former[at].version != version) {
        ++at;
    }
    Cell cell = entry.cell();
    const AnyLimit* from = nullptr;
    Instant ended{};
    for (std::size_t i = std::min(at + 1, row.former.size()); i-- > 0;) {
        const FormerNumbers& former = row.former[i];
        const AnyLimit* numbers = numbers_at(former.limit, former.coarser, step);
        if (from != nullptr && numbers != nullptr) {
            renumber(cell, *from, *numbers, pool_, {ended, now.utc_ahead});
        }
        from = numbers != nullptr ? numbers : from;
        ended = changed_[former.change % changed_.size()];
    }
    const AnyLimit* to = numbers_at(*row.limit, row.coarser, step);
    if (from != nullptr && to != nullptr) {
        renumber(cell, *from, *to, pool_, {ended, now.utc_ahead});
    }
    entry.write(cell);
    entry.set_version(row.version);
}

}  // namespace sluice
