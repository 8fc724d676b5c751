#include "lib/meter/any_meter.hpp"
#include "lib/meter/sliding_counters.hpp"
#include "lib/meter/sliding_log.hpp"
#include "lib/table/bucket_store.hpp"

#include <vector>

// What a process that is killed between two stores can leave behind, and what becomes of it:
//
//   entry and line half changed     the undo has both as they were
//   an entry filed twice            it was on its way: the later one goes on
//   a time without a key            a key that had not come yet, or has gone: nobody's
//   a time of 0                     it has gone: nobody's
//   an entry held                   its packet was never sent: released
//   a queue half changed            RecordQueue::mend()
//   lines that no entry leads to    free
namespace sluice {

// One pass over all that a store holds.
class StoreWalk {
public:
    StoreWalk(BucketStore& store, std::span<const SlotRow> rows)
        : store_{store}, rows_{rows}, used_(store.registry.pool().size() + 1) {}

    BucketStore::Found run() {
        undo();
        walk_table(store_.keys);
        walk_table(store_.parents);
        for (std::size_t slot = 0; slot < kSlots; ++slot) {
            Entry& rule = store_.rule_entry(static_cast<LimitSlot>(slot));
            if (is_owed(rule) && (rule.slot() != slot || !go_on(rule))) {
                forget_unknown(rule);
            }
        }
        pool().recover(used_);
        store_.registry.recover();
        return found_;
    }

private:
    [[nodiscard]] LinePool& pool() noexcept { return store_.registry.pool(); }

    void undo() {
        Undo& undo = store_.registry.recovery_log().undo;
        if (undo.entry_at == 0) {
            return;
        }
        Entry* entry = entry_at(reinterpret_cast<std::uintptr_t>(&undo) + undo.entry_at);
        if (entry != nullptr && undo.line <= pool().size()) {
            if (undo.line != kNoLine) {
                pool().at<std::array<std::byte, kLineBytes>>(static_cast<PoolLine>(undo.line)) =
                    undo.bytes;
            }
            entry->put_back({undo.time, undo.key});
            ++found_.mended;
        }
        store_word(undo.entry_at, 0);
    }

    // The entry at that address; nullptr: there is none.
    [[nodiscard]] Entry* entry_at(std::uintptr_t address) noexcept {
        const auto in = [address](Entry& first, std::size_t count) -> Entry* {
            const std::uintptr_t into = address - reinterpret_cast<std::uintptr_t>(&first);
            const bool is_one = into % sizeof(Entry) == 0 && into / sizeof(Entry) < count;
            return is_one ? &first + into / sizeof(Entry) : nullptr;
        };
        if (Entry* entry = in(store_.keys.at(0), store_.keys.slots())) {
            return entry;
        }
        if (Entry* entry = in(store_.parents.at(0), store_.parents.slots())) {
            return entry;
        }
        return in(store_.rule_entry(0), kSlots);
    }

    void walk_table(BucketTable& table) {
        for (std::size_t position = 0; position < table.slots(); ++position) {
            Entry& entry = table.at(position);
            if (!is_owed(entry)) {
                continue;
            }
            if (Entry* twin = table.twin_of(position)) {
                const bool later = twin->fresh_from() > entry.fresh_from();
                (later ? entry : *twin).clear();
                ++found_.mended;
                if (later) {
                    continue;
                }
            }
            if (!go_on(entry)) {
                forget_unknown(entry);
            }
        }
    }

    // Clears what is only the rest of an entry.
    [[nodiscard]] bool is_owed(Entry& entry) noexcept {
        if (!entry.empty() && entry.fresh_from() > Instant{}) {
            return true;
        }
        if (entry.time != 0 || entry.key != 0) {
            entry.clear();
            ++found_.mended;
        }
        return false;
    }

    void forget_unknown(Entry& entry) noexcept {
        entry.clear();
        ++found_.unknown;
    }

    // False: its debt is unknown.
    [[nodiscard]] bool go_on(Entry& entry) {
        const LimitSlot slot = entry.slot();
        if (slot >= rows_.size() || rows_[slot].limit == nullptr || !claim_lines(entry)) {
            return false;
        }
        if (entry.held()) {
            entry.release();
        }
        end_lease(entry);
        store_.registry.came(slot);
        if (entry.stamp().aggregation_level != 0) {
            store_.note_parent(entry);
        }
        ++found_.live;
        return true;
    }

    // All that was noted of it counts as spent.
    void end_lease(Entry& entry) noexcept {
        const Limit* gcra = gcra_of(*rows_[entry.slot()].limit);
        if (gcra != nullptr && gcra->parts() == 1 && !entry.has_own_numbers()) {
            entry.set_lease(0);
        }
    }

    [[nodiscard]] bool claim(std::uint64_t line) {
        if (line == kNoLine || line > pool().size() || used_[line]) {
            return false;
        }
        used_[line] = true;
        return true;
    }

    [[nodiscard]] bool claim_lines(const Entry& entry) {
        const PoolLine line = entry.cell().rest;
        if (entry.has_own_numbers()) {
            return claim(line);
        }
        switch (algorithm_of(*rows_[entry.slot()].limit)) {
            case Algorithm::TokenBucket:
            case Algorithm::LeakyBucket:
                return true;
            case Algorithm::Penalty:
                return line == kNoLine || (claim(line) && mend<SlidingLog>(line));
            case Algorithm::SlidingCounters:
                return claim(line) && mend<SlidingCounters>(line);
            case Algorithm::SlidingLog:
                return claim(line) && mend<SlidingLog>(line);
            default:
                return claim(line);
        }
    }

    template <typename State>
    bool mend(PoolLine line) {
        pool().at<State>(line).mend(pool(), [this](PoolLine more) { return claim(more); });
        return true;
    }

    BucketStore& store_;
    std::span<const SlotRow> rows_;
    std::vector<bool> used_;  // by line
    BucketStore::Found found_;
};

BucketStore::Found BucketStore::recover(std::span<const SlotRow> rows) {
    return StoreWalk{*this, rows}.run();
}

}  // namespace sluice
