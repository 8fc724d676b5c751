#include "lib/bucket/table/worker_tables.hpp"

#include "lib/base/prefetch.hpp"
#include "lib/bucket/meter/penalty.hpp"

#include <algorithm>

namespace sluice {
namespace {

const BucketTable& table_of(const BucketStore& store, std::uint8_t aggregation_level) noexcept {
    return aggregation_level == 0 ? store.keys : store.parents;
}

Entry entry_at(const BucketStore& store, const BucketAt& at) noexcept {
    return at.of_rule ? read_whole(store.rule_entry(slot_of(at.key)))
                      : table_of(store, at.aggregation_level).peek(at.key);
}

bool is_window_in_one_line(const AnyLimit& limit) noexcept {
    const Algorithm algorithm = algorithm_of(limit);
    return algorithm == Algorithm::FixedWindow || algorithm == Algorithm::SlidingWindow ||
           algorithm == Algorithm::DayWindow;
}

// With units of which nothing is known but their number.
Owed more(const Owed& owed, Units units) noexcept {
    return units == Units{0} ? owed : Owed{.found = true, .used = owed.used + units};
}

bool is_later(const Gcra& a, const Gcra& b) noexcept {
    return a.fresh_from > b.fresh_from || (a.fresh_from == b.fresh_from && a.below < b.below);
}

}  // namespace

// The debts of one key in several tables, added up or not.
class WorkerTables::Sum {
public:
    Sum(Combine combine, const LimitRegistry& registry, Now now) noexcept
        : combine_{combine}, registry_{registry}, now_{now} {}

    // Adds what a table has, and what it may not contain. The entry is read again if it was
    // another's by the time that its line had been read.
    void add(const BucketStore& store, const BucketAt& at, Units unsynced = Units{0}) noexcept {
        constexpr int kTries = 3;
        Entry entry = entry_at(store, at);
        for (int left = kTries; left > 0 && !entry.empty(); --left) {
            const Owed seen = owed_in(store, entry);
            const Entry again = entry_at(store, at);
            if (again.key == entry.key || left == 1) {
                add(more(seen, unsynced));
                return;
            }
            entry = again;
        }
    }

    [[nodiscard]] const Owed& owed() const noexcept { return owed_; }

private:
    [[nodiscard]] Owed owed_in(const BucketStore& store, const Entry& entry) const noexcept {
        Owed seen{.found = true};
        if (!registry_.knows(entry.slot())) {
            return seen;
        }
        const RemoteLines lines{store.registry.pool()};
        seen.used = registry_.used_of(entry, lines, now_);
        if (const std::optional<ColorMeter> meter = registry_.meter_of(entry, lines)) {
            // The meter's second bucket may owe alone, which are no units that the first lacks.
            seen.line =
                meter->fresh_from() > now_.at ? std::optional{line_of(*meter)} : std::nullopt;
            return seen;
        }
        if (seen.used == Units{0}) {
            return seen;
        }
        seen.bucket = registry_.bucket_of(entry);
        const SlotRow& row = registry_.row(entry.slot());
        if (is_window_in_one_line(*row.limit) && entry.stamp() == Stamp{row.version, 0}) {
            seen.line = {lines.at<std::array<std::byte, kLineBytes>>(entry.cell().rest),
                         entry.fresh_from()};
        }
        return seen;
    }

    [[nodiscard]] static bool owes_nothing(const Owed& owed) noexcept {
        return owed.used == Units{0} && !owed.bucket && !owed.line;
    }
    void add(const Owed& seen) noexcept {
        owed_.found = true;
        if (owes_nothing(seen)) {
            return;
        }
        const bool first = owes_nothing(owed_);
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
    const LimitRegistry& registry_;
    Now now_;
    Owed owed_;
};

// The amounts of all workers before the entries of any: an amount becomes an entry of its owner,
// and only then is missing at its sender. Read the other way round, it could be seen in neither.
bool WorkerTables::has_connection(std::size_t worker, std::uint64_t digest) const noexcept {
    // Chains are short: their digests are keyed.
    constexpr int kMostSteps = 16;
    const LinePool& pool = stores_[worker]->registry.pool();
    const RemoteLines lines{pool};
    PoolLine line = pool.index().shared_first(digest);
    for (int steps = 0; steps < kMostSteps && line != kNoLine; ++steps) {
        const IndexedLine& indexed = lines.at<IndexedLine>(line);
        if (load_word(indexed.digest) == digest) {
            return true;
        }
        line = load_half_word(indexed.next);
    }
    return false;
}

std::uint64_t WorkerTables::uses_of(LimitSlot slot) const noexcept {
    std::uint64_t uses = 0;
    for (const BucketStore* store : stores_) {
        uses += store->unsynced_accounts_of(slot);
    }
    for (const BucketStore* store : stores_) {
        uses += store->registry.entries_of(slot).read();
    }
    return uses;
}

std::uint64_t WorkerTables::users_of(LimitSlot slot) const noexcept {
    std::uint64_t users = 0;
    for (std::size_t worker = 0; worker < stores_.size(); ++worker) {
        const bool has_entries = stores_[worker]->registry.entries_of(slot).read() != 0;
        users |= std::uint64_t{has_entries ? 1U : 0U} << worker;
    }
    return users;
}

// All lines are asked for before the first is read.
void WorkerTables::prefetch(const BucketAt& at) const noexcept {
    for (const BucketStore* store : stores_) {
        if (!at.of_rule) {
            (void)table_of(*store, at.aggregation_level).prefetch_both(at.key);
        }
    }
}

// Amounts before tables: a unit leaves its worker's amounts once the owner's total has it. So the
// owner's bucket and what all others have unsynced hold every unit; so does any other's bucket,
// which may lack what it has not been told of, less its own.
Owed WorkerTables::owed_before(const BucketAt& at, const LimitRegistry& registry,
                               Now now) const noexcept {
    Units unsynced{0};  // of slots that nobody has an entry in
    for (const MigratedFrom& moved : registry.row(slot_of(at.key)).moved()) {
        if (uses_of(moved.slot) == 0) {
            continue;
        }
        const BucketAt before = with_slot(at, moved.slot);
        std::array<Units, kMaxCores> own{};
        for (std::size_t i = 0; i < stores_.size(); ++i) {
            const UnsyncedUnits* noted = stores_[i]->unsynced();
            own[i] = noted == nullptr ? Units{0} : noted->of(before);
            unsynced = unsynced + own[i];
        }
        prefetch(before);
        Sum sum{moved.combine, registry, now};
        const bool adds_up = moved.combine == Combine::Sum;
        for (std::size_t i = 0; i < stores_.size(); ++i) {
            sum.add(*stores_[i], before,
                    adds_up ? Units{0} : Units{unsynced.count() - own[i].count()});
        }
        if (sum.owed().found) {
            return adds_up ? more(sum.owed(), unsynced) : sum.owed();
        }
    }
    return {.found = unsynced != Units{0}, .used = unsynced};
}

Instant WorkerTables::fresh_before(const BucketAt& at, const LimitRegistry& registry,
                                   Now now) const noexcept {
    Instant latest{};
    for (const MigratedFrom& moved : registry.row(slot_of(at.key)).moved()) {
        for (const BucketStore* store : stores_) {
            const Entry entry = entry_at(*store, with_slot(at, moved.slot));
            const Instant fresh = entry.empty() ? Instant{} : registry.fresh_from_of(entry);
            latest = fresh > now.at ? std::max(latest, fresh) : latest;
        }
    }
    return latest;
}

bool WorkerTables::is_on_its_way(const BucketAt& at, const LimitRegistry& registry) const noexcept {
    const auto moved = registry.row(slot_of(at.key)).moved();
    return std::any_of(moved.begin(), moved.end(), [&](const MigratedFrom& from) {
        const BucketAt before = with_slot(at, from.slot);
        return std::any_of(stores_.begin(), stores_.end(), [&](const BucketStore* store) {
            return store->unsynced() != nullptr && store->unsynced()->of(before) != Units{0};
        });
    });
}

// Under all of them: one that took over from another may be forgotten first.
void WorkerTables::end_before(const BucketAt& at, const LimitRegistry& registry) const noexcept {
    for (const MigratedFrom& moved : registry.row(slot_of(at.key)).moved()) {
        const TableKey before = with_slot(at.key, moved.slot);
        for (const BucketStore* store : stores_) {
            table_of(*store, at.aggregation_level).end_beside_owner(before);
        }
    }
}

Units WorkerTables::used_by_others(const BucketAt& at, Combine combine, const BucketStore& mine,
                                   Now now) const noexcept {
    prefetch(at);
    Sum sum{combine, mine.registry, now};
    for (const BucketStore* store : stores_) {
        if (store != &mine) {
            sum.add(*store, at);
        }
    }
    return sum.owed().used;
}

bool WorkerTables::others_have(const BucketAt& at, const BucketStore& mine) const noexcept {
    prefetch(at);
    return std::any_of(stores_.begin(), stores_.end(), [&](const BucketStore* store) {
        return store != &mine && !entry_at(*store, at).empty();
    });
}

Nanoseconds WorkerTables::ban_left(const TableKey& key, const LimitRegistry& registry,
                                   Instant now) const noexcept {
    Nanoseconds left{0};
    const auto lookup = [&](const TableKey& at) {
        if (uses_of(slot_of(at)) == 0) {
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
    lookup(key);
    for (const MigratedFrom& moved : registry.row(slot_of(key)).moved()) {
        lookup(with_slot(key, moved.slot));
    }
    return left;
}

bool WorkerTables::coarsened(Instant now) const noexcept {
    return std::any_of(stores_.begin(), stores_.end(),
                       [now](const BucketStore* store) { return store->coarsened(now); });
}

}  // namespace sluice
