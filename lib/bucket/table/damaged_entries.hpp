#pragma once
#include "lib/base/now.hpp"
#include "lib/bucket/table/bucket_store.hpp"

#include <cstdint>
#include <span>
#include <vector>

// Entries that an earlier process cannot have written: a bit of them has flipped since. Who owed
// how much is not known any more, but that it was at most a full debt: that is what they owe then.
namespace sluice {

// The place of an entry: what it may say depends on it.
enum class EntryPlace : std::uint8_t { Keys, Parents, Rule };

// Checks that an entry of a known slot says what its limit's entries say: a version and a level
// that there are, and a debt that its limit can have. Without `times` it carries the numbers in
// force, since nobody knows when others ended.
struct EntrySense {
    const SlotRow& row;
    Now now;
    bool times;

    [[nodiscard]] bool allows(const Entry& entry, EntryPlace place) const noexcept;
    // The same of a state in lines that are the entry's alone.
    [[nodiscard]] bool allows_state(const Entry& entry, const LinePool& pool) const noexcept;
    // The numbers that an entry carries, if they are in force; nullptr: others, or its key's own.
    [[nodiscard]] const AnyLimit* numbers(const Entry& entry) const noexcept;
};

class DamagedEntries {
public:
    DamagedEntries(BucketStore& store, std::span<const SlotRow> rows, Now now) noexcept
        : store_{store}, rows_{rows}, now_{now} {}

    enum class Lines : bool { Lost, Own };
    // An entry of a known slot; `lines`: whether those that it leads to are its own.
    void add(Entry& entry, EntryPlace place, Lines lines) {
        found_.push_back({&entry, place, lines});
    }
    // Once the pool knows which lines are in use: all of them owe a full debt from now on. Returns
    // how many; the pool may have no line for some, which are forgotten.
    std::uint64_t charge_fully();

private:
    struct Damaged {
        Entry* entry;
        EntryPlace place;
        Lines lines;
    };
    void give_back_lines(const Damaged& damaged) noexcept;
    [[nodiscard]] bool charge_fully(const Damaged& damaged) noexcept;

    BucketStore& store_;
    std::span<const SlotRow> rows_;
    Now now_;
    std::vector<Damaged> found_;
};

}  // namespace sluice
