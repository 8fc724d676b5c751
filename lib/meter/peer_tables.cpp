#include "lib/meter/peer_tables.hpp"

#include "lib/meter/penalty.hpp"

#include <algorithm>

namespace sluice {
namespace {

const BucketTable& table_of(const BucketStore& store, std::uint8_t step) noexcept {
    return step == 0 ? store.keys : store.parents;
}

bool is_one_line(const AnyLimit& limit) noexcept {
    const Algorithm algorithm = algorithm_of(limit);
    return algorithm == Algorithm::FixedWindow || algorithm == Algorithm::SlidingWindow ||
           algorithm == Algorithm::ColorMeter;
}

bool is_later(const Gcra& a, const Gcra& b) noexcept {
    return a.fresh_from > b.fresh_from || (a.fresh_from == b.fresh_from && a.below < b.below);
}

}  // namespace

// What several tables have of one key, added up or not.
class PeerTables::Sum {
public:
    Sum(Combine combine, const Tenants& tenants, Now now) noexcept
        : combine_{combine}, tenants_{tenants}, now_{now} {}

    // `entry_in` reads a key's entry in a store: again, if it was another's by the time that its
    // line had been read.
    template <typename EntryIn>
    void add(const BucketStore& store, EntryIn&& entry_in) noexcept {
        constexpr int kTries = 3;
        Entry entry = entry_in(store);
        for (int left = kTries; left > 0 && !entry.empty(); --left) {
            const Owed seen = owed_in(store, entry);
            const Entry again = entry_in(store);
            if (again.key == entry.key || left == 1) {
                add(seen);
                return;
            }
            entry = again;
        }
    }

    [[nodiscard]] const Owed& owed() const noexcept { return owed_; }

private:
    [[nodiscard]] Owed owed_in(const BucketStore& store, const Entry& entry) const noexcept {
        Owed seen{.found = true};
        if (!tenants_.knows(entry.slot()) || entry.idle(now_.at)) {
            return seen;
        }
        const PeerLines lines{store.tenants.pool()};
        seen.used = tenants_.used_of(entry, lines, now_);
        seen.bucket = tenants_.bucket_of(entry);
        const SlotRow& row = tenants_.row(entry.slot());
        if (is_one_line(*row.limit) && entry.stamp() == Stamp{row.version, 0}) {
            seen.line = {lines.at<std::array<std::byte, kLineBytes>>(entry.cell().rest),
                         entry.fresh_from()};
        }
        return seen;
    }

    void add(const Owed& seen) noexcept {
        owed_.found = true;
        if (seen.used == Units{0} && !seen.bucket) {
            return;
        }
        const bool first = owed_.used == Units{0} && !owed_.bucket;
        if (first) {
            owed_ = seen;
        } else if (combine_ == Combine::Most) {
            const bool later = seen.bucket && owed_.bucket ? is_later(*seen.bucket, *owed_.bucket)
                                                           : seen.used > owed_.used;
            owed_ = later ? seen : owed_;
        } else {
            owed_ = {.found = true, .used = owed_.used + seen.used};
        }
    }

    Combine combine_;
    const Tenants& tenants_;
    Now now_;
    Owed owed_;
};

bool PeerTables::has_entries(LimitSlot slot) const noexcept {
    return std::any_of(stores_.begin(), stores_.end(), [slot](const BucketStore* store) {
        return store->tenants.entries_of(slot).read() != 0;
    });
}

// All lines are asked for before the first is read.
void PeerTables::prefetch(const FiledKey& key, std::uint8_t step) const noexcept {
    for (const BucketStore* store : stores_) {
        (void)table_of(*store, step).prefetch_both(key);
    }
}

Owed PeerTables::owed_before(const FiledKey& key, std::uint8_t step, const Tenants& tenants,
                             Now now) const noexcept {
    for (const MovedFrom& moved : tenants.row(slot_of(key)).moved()) {
        if (!has_entries(moved.slot)) {
            continue;
        }
        const FiledKey before = refiled(key, moved.slot);
        prefetch(before, step);
        Sum sum{moved.combine, tenants, now};
        for (const BucketStore* store : stores_) {
            sum.add(*store, [&](const BucketStore& in) { return table_of(in, step).peek(before); });
        }
        if (sum.owed().found) {
            return sum.owed();
        }
    }
    return {};
}

Owed PeerTables::owed_by_rule_before(LimitSlot slot, const Tenants& tenants,
                                     Now now) const noexcept {
    for (const MovedFrom& moved : tenants.row(slot).moved()) {
        Sum sum{moved.combine, tenants, now};
        for (const BucketStore* store : stores_) {
            sum.add(*store,
                    [&](const BucketStore& in) { return read_whole(in.rule_entry(moved.slot)); });
        }
        if (sum.owed().found) {
            return sum.owed();
        }
    }
    return {};
}

Units PeerTables::used_by_others(const FiledKey& key, Combine combine, const BucketStore& mine,
                                 Now now) const noexcept {
    prefetch(key, 0);
    Sum sum{combine, mine.tenants, now};
    for (const BucketStore* store : stores_) {
        if (store != &mine) {
            sum.add(*store, [&](const BucketStore& in) { return in.keys.peek(key); });
        }
    }
    return sum.owed().used;
}

bool PeerTables::others_have(const FiledKey& key, const BucketStore& mine) const noexcept {
    prefetch(key, 0);
    return std::any_of(stores_.begin(), stores_.end(), [&](const BucketStore* store) {
        return store != &mine && !store->keys.peek(key).empty();
    });
}

Nanoseconds PeerTables::ban_left(const FiledKey& key, const Tenants& tenants,
                                 Instant now) const noexcept {
    Nanoseconds left{0};
    const auto look = [&](const FiledKey& at) {
        if (!has_entries(slot_of(at))) {
            return;
        }
        prefetch(at, 0);
        for (const BucketStore* store : stores_) {
            const Entry entry = store->keys.peek(at);
            const Cell cell = entry.cell();
            if (!entry.empty() && PenaltyMeter::banned(cell, now)) {
                left = std::max(left, cell.fresh_from - now);
            }
        }
    };
    look(key);
    for (const MovedFrom& moved : tenants.row(slot_of(key)).moved()) {
        look(refiled(key, moved.slot));
    }
    return left;
}

bool PeerTables::coarsened(Instant now) const noexcept {
    return std::any_of(stores_.begin(), stores_.end(),
                       [now](const BucketStore* store) { return store->coarsened(now); });
}

}  // namespace sluice
