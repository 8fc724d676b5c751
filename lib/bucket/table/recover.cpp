#include "lib/bucket/meter/any_meter.hpp"
#include "lib/bucket/meter/meter_adapters.hpp"
#include "lib/bucket/table/bucket_store.hpp"
#include "lib/bucket/table/damaged_entries.hpp"

#include <algorithm>
#include <vector>

// Traces of a process that is killed between two stores, and what becomes of them:
//
//   entry and line half changed     the undo has both as they were
//   an entry filed twice            it was on its way: the later one goes on
//   a time without a key            a key that had not come yet, or has gone: nobody's
//   a time of 0                     it has gone: nobody's
//   an entry held                   its packet was never sent: released
//   a queue half changed            RecordQueue::mend()
//   lines that no entry leads to    free
//
// And what no process leaves behind, but a bit that flips:
//
//   an entry that cannot be true    it owes a full debt (damaged_entries.hpp)
//   an instant of a change          entries that need it owe a full debt
//   an undo of another entry        not done
namespace sluice {

// One pass over all that a store holds.
class StoreWalk {
public:
    StoreWalk(BucketStore& store, std::span<const SlotRow> rows, Now now)
        : store_{store},
          rows_{rows},
          now_{now},
          times_{store.registry.recovery_log().is_whole()},
          damaged_{store, rows, now},
          used_(store.registry.pool().size() + 1) {}

    BucketStore::Found run() {
        undo();
        walk_table(store_.keys, EntryPlace::Keys);
        walk_table(store_.parents, EntryPlace::Parents);
        for (std::size_t slot = 0; slot < kSlots; ++slot) {
            Entry& rule = store_.rule_entry(static_cast<LimitSlot>(slot));
            if (is_owed(rule) && (rule.slot() != slot || !go_on(rule, EntryPlace::Rule))) {
                forget_unknown(rule);
            }
        }
        pool().recover(used_);
        store_.registry.recover(now_.at);
        found_.damaged += damaged_.charge_fully();
        return found_;
    }

private:
    [[nodiscard]] LinePool& pool() noexcept { return store_.registry.pool(); }

    void undo() {
        Undo& undo = store_.registry.recovery_log().undo;
        const std::uint64_t distance = undo.entry_at.value();
        if (!undo.entry_at.is_whole()) {
            ++found_.damaged;
        } else if (distance != 0) {
            Entry* entry = entry_at(reinterpret_cast<std::uintptr_t>(&undo) + distance);
            // A change of numbers leaves slot and tag as they are.
            const Entry before{undo.time, undo.key};
            const bool is_of_entry =
                entry != nullptr && entry->slot_and_tag() == before.slot_and_tag();
            if (is_of_entry && undo.line <= pool().size()) {
                put_back(*entry, before, undo);
            } else {
                ++found_.damaged;
            }
        }
        undo.entry_at.set(0);
    }

    void put_back(Entry& entry, const Entry& before, const Undo& undo) noexcept {
        if (undo.line != kNoLine) {
            pool().at<std::array<std::byte, kLineBytes>>(static_cast<PoolLine>(undo.line)) =
                undo.bytes;
        }
        entry.put_back(before);
        ++found_.mended;
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

    void walk_table(BucketTable& table, EntryPlace place) {
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
            if (!go_on(entry, place)) {
                forget_unknown(entry);
            }
        }
    }

    // Clears what is only the rest of an entry.
    [[nodiscard]] bool is_owed(Entry& entry) noexcept {
        // An instant below zero is that of a damaged entry.
        if (!entry.empty() && entry.fresh_from() != Instant{}) {
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

    // False: its limit is unknown, and its debt with it.
    [[nodiscard]] bool go_on(Entry& entry, EntryPlace place) {
        const LimitSlot slot = entry.slot();
        if (slot >= rows_.size() || rows_[slot].limit == nullptr) {
            return false;
        }
        const EntrySense sense{rows_[slot], now_, times_};
        if (!sense.allows(entry, place) || !claim_lines(entry)) {
            damaged_.add(entry, place, DamagedEntries::Lines::Lost);
            return true;
        }
        if (!sense.allows_state(entry, pool())) {
            damaged_.add(entry, place, DamagedEntries::Lines::Own);
            return true;
        }
        follow_state(entry, sense);
        if (entry.held()) {
            entry.release();
        }
        end_lease(entry);
        store_.registry.came(slot);
        if (entry.stamp().aggregation_level != 0) {
            store_.note_parent(entry);
            if (LimitRegistry::is_pooled(rows_[slot])) {
                store_.registry.parent_took_line();
            }
        }
        ++found_.live;
        return true;
    }

    // A state in lines is charged before its entry tells of it: what it owes longer counts.
    void follow_state(Entry& entry, const EntrySense& sense) noexcept {
        const AnyLimit* limit = sense.numbers(entry);
        if (limit == nullptr) {
            return;
        }
        const Instant fresh = fresh_from(entry.cell(), *limit, pool(), now_);
        if (fresh > std::max(entry.fresh_from(), now_.at)) {
            entry.write_instant(fresh);
            ++found_.mended;
        }
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
        const auto claim_more = [this](PoolLine more) { return claim(more); };
        return std::visit(
            [&]<typename Numbers>(const Numbers& numbers) {
                using M = MeterOf<Numbers>;
                if (!KeepsLines<M> || (line == kNoLine && may_have_no_line<M>())) {
                    return true;
                }
                if (!claim(line)) {
                    return false;
                }
                const M meter = meter_of(numbers);
                if constexpr (requires { meter.mend(line, pool(), claim_more); }) {
                    meter.mend(line, pool(), claim_more);
                }
                return true;
            },
            *rows_[entry.slot()].limit);
    }

    BucketStore& store_;
    std::span<const SlotRow> rows_;
    Now now_;
    bool times_;  // whether it is known when numbers changed
    DamagedEntries damaged_;
    std::vector<bool> used_;  // by line
    BucketStore::Found found_;
};

BucketStore::Found BucketStore::recover(std::span<const SlotRow> rows, Now now) {
    return StoreWalk{*this, rows, now}.run();
}

}  // namespace sluice
