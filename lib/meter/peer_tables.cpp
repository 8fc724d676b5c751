#include "lib/meter/peer_tables.hpp"

#include "lib/base/prefetch.hpp"
#include "lib/meter/penalty.hpp"

#include <algorithm>

namespace sluice {
namespace {

const BucketTable& table_of(const BucketStore& store, std::uint8_t step) noexcept {
    return step == 0 ? store.keys : store.parents;
}

Entry entry_at(const BucketStore& store, const BucketAt& at) noexcept {
    return at.of_rule ? read_whole(store.rule_entry(slot_of(at.key)))
                      : table_of(store, at.step).peek(at.key);
}

BucketAt refiled(const BucketAt& at, LimitSlot slot) noexcept {
    return {sluice::refiled(at.key, slot), at.step, at.of_rule};
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

    // The entry is read again if it was another's by the time that its line had been read.
    void add(const BucketStore& store, const BucketAt& at) noexcept {
        constexpr int kTries = 3;
        Entry entry = entry_at(store, at);
        for (int left = kTries; left > 0 && !entry.empty(); --left) {
            const Owed seen = owed_in(store, entry);
            const Entry again = entry_at(store, at);
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
void PeerTables::prefetch(const BucketAt& at) const noexcept {
    keep_prefetches();
    for (const BucketStore* store : stores_) {
        if (!at.of_rule) {
            (void)table_of(*store, at.step).prefetch_both(at.key);
        }
    }
}

Owed PeerTables::owed_before(const BucketAt& at, const Tenants& tenants, Now now) const noexcept {
    for (const MovedFrom& moved : tenants.row(slot_of(at.key)).moved()) {
        if (!has_entries(moved.slot)) {
            continue;
        }
        const BucketAt before = refiled(at, moved.slot);
        prefetch(before);
        Sum sum{moved.combine, tenants, now};
        for (const BucketStore* store : stores_) {
            sum.add(*store, before);
        }
        if (sum.owed().found) {
            return sum.owed();
        }
    }
    return {};
}

// Under all of them: one that took over from another may be forgotten first.
void PeerTables::end_before(const BucketAt& at, const Tenants& tenants) const noexcept {
    for (const MovedFrom& moved : tenants.row(slot_of(at.key)).moved()) {
        const FiledKey before = sluice::refiled(at.key, moved.slot);
        for (const BucketStore* store : stores_) {
            table_of(*store, at.step).end_beside_owner(before);
        }
    }
}

Units PeerTables::used_by_others(const BucketAt& at, Combine combine, const BucketStore& mine,
                                 Now now) const noexcept {
    prefetch(at);
    Sum sum{combine, mine.tenants, now};
    for (const BucketStore* store : stores_) {
        if (store != &mine) {
            sum.add(*store, at);
        }
    }
    return sum.owed().used;
}

bool PeerTables::others_have(const BucketAt& at, const BucketStore& mine) const noexcept {
    prefetch(at);
    return std::any_of(stores_.begin(), stores_.end(), [&](const BucketStore* store) {
        return store != &mine && !entry_at(*store, at).empty();
    });
}

Nanoseconds PeerTables::ban_left(const FiledKey& key, const Tenants& tenants,
                                 Instant now) const noexcept {
    Nanoseconds left{0};
    const auto look = [&](const FiledKey& at) {
        if (!has_entries(slot_of(at))) {
            return;
        }
        prefetch({at});
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
        look(sluice::refiled(key, moved.slot));
    }
    return left;
}

bool PeerTables::coarsened(Instant now) const noexcept {
    return std::any_of(stores_.begin(), stores_.end(),
                       [now](const BucketStore* store) { return store->coarsened(now); });
}

}  // namespace sluice
