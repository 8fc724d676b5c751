#pragma once
#include "lib/bucket/pool/line_pool.hpp"
#include "lib/bucket/table/entry.hpp"
#include "lib/bucket/table/slot_row.hpp"
#include "lib/share/checked_word.hpp"
#include "lib/share/word.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace sluice {

// An entry and its line as they were before both are changed together, for as long as that takes.
// Charging a bucket needs none of this: its stores are in an order in which each leaves at least
// what was owed before. Bringing one under other numbers has no such order.
struct Undo {
    // The offset of the entry, in bytes from here; 0: nothing is under way.
    CheckedWord<48> entry_at;
    std::uint64_t line = kNoLine;
    std::uint64_t time = 0;
    std::uint64_t key = 0;
    std::array<std::byte, kLineBytes> bytes{};
};

// The meaning of a core's buckets besides what stands in their entries. Plain data that lies beside
// the tables, so that the next process reads them as this one does.
struct RecoveryLog {
    ChangeTimes changed{};
    CheckedWord<48> changes;  // of numbers, as far as this core has adopted them
    Undo undo;

    // True if all words of it are as they were written. The undo besides is read only while a
    // change is under way.
    [[nodiscard]] bool is_whole() const noexcept {
        return changes.is_whole() &&
               std::all_of(changed.begin(), changed.end(),
                           [](const ChangeTime& time) { return time.is_whole(); });
    }
};

// Keeps the undo from the beginning of a change to its end. `line`: kNoLine, or the entry's before.
class EntryTransaction {
public:
    EntryTransaction(Undo& undo, const Entry& entry, PoolLine line, const LinePool& pool) noexcept
        : undo_{undo} {
        undo.line = line;
        undo.time = entry.time;
        undo.key = entry.key;
        if (line != kNoLine) {
            undo.bytes = pool.at<std::array<std::byte, kLineBytes>>(line);
        }
        const auto distance =
            reinterpret_cast<std::uintptr_t>(&entry) - reinterpret_cast<std::uintptr_t>(&undo);
        undo.entry_at.set(distance);
        keep_store_order();
    }
    ~EntryTransaction() {
        keep_store_order();
        undo_.entry_at.set(0);
    }
    EntryTransaction(const EntryTransaction&) = delete;
    EntryTransaction& operator=(const EntryTransaction&) = delete;

private:
    Undo& undo_;
};

}  // namespace sluice
