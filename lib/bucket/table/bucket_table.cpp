#include "lib/bucket/table/bucket_table.hpp"

#include "lib/base/prefetch.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace sluice {
namespace {

// How full a table of random keys can be before a search of this length finds nothing.
constexpr std::size_t kFillPercent = 94;
constexpr std::uint32_t kCreditPerBurst = 4096;
constexpr std::uint32_t kMostCredit = 8192;
constexpr std::uint32_t kMostReluctance = 12;
constexpr std::uint32_t kCalmBursts = 1024;
// Lines of a sweep that will read the limits of its entries: some hundred ns after a change of
// numbers, else a burst.
constexpr std::size_t kRowsAhead = 3;

std::size_t lines_for(std::size_t keys, std::size_t entries) noexcept {
    return std::max<std::size_t>(
        (keys * 100 + kFillPercent * entries - 1) / (kFillPercent * entries), 1);
}

}  // namespace

// One line of a search, and the entry of an earlier one that could be moved there.
struct BucketTable::Step {
    std::uint32_t line;
    std::uint16_t parent;  // index of the earlier step
    std::uint8_t entry;    // of the parent's line
};

// The lines of a search, breadth first. The first two steps have no parent; only steps
// that were pushed are read.
class BucketTable::Search {
public:
    static constexpr std::size_t kRoots = 2;

    void push(std::size_t line, std::size_t parent, std::size_t entry) noexcept {
        if (size_ < steps_.size()) {
            steps_[size_++] = {static_cast<std::uint32_t>(line), static_cast<std::uint16_t>(parent),
                               static_cast<std::uint8_t>(entry)};
        }
    }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] const Step& operator[](std::size_t i) const noexcept { return steps_[i]; }

    // A path with a line twice would move an entry to a line it does not belong to.
    [[nodiscard]] bool path_has(std::size_t last, std::size_t line) const noexcept {
        for (std::size_t at = last;; at = steps_[at].parent) {
            if (steps_[at].line == line) {
                return true;
            }
            if (at < kRoots) {
                return false;
            }
        }
    }

private:
    std::array<Step, kSearchedLines> steps_;
    std::size_t size_ = 0;
};

// The path from a root to one of its lines.
struct BucketTable::Path {
    const Search& search;
    std::size_t last;
};

BucketTable::BucketTable(std::size_t keys) : BucketTable{LineMemory{bytes_for(keys)}} {}

BucketTable::BucketTable(LineMemory memory) noexcept
    : lines_{memory.bytes() / sizeof(Line)}, memory_{std::move(memory)} {}

std::size_t BucketTable::bytes_for(std::size_t keys) noexcept {
    return lines_for(keys, kEntries) * sizeof(Line);
}

void BucketTable::begin_burst() noexcept {
    if (++searches_.bursts % kCalmBursts == 0 && searches_.reluctance != 0) {
        --searches_.reluctance;
    }
    searches_.credit =
        std::min(searches_.credit + (kCreditPerBurst >> searches_.reluctance), kMostCredit);
}

Entry* BucketTable::make_place_at_hand(const TableKey& key, LimitRegistry& registry,
                                       Now now) noexcept {
    const std::size_t first = first_of(key);
    const std::size_t second = other_of(first, key.slot_and_tag);
    // An idle entry's key may come again, so an empty one is taken before it, also in the other
    // line.
    for (const std::size_t index : {first, second}) {
        if (const unsigned empty = empty_in(line(index)); empty != 0) {
            return entry_of(line(index), empty);
        }
    }
    Entry* idle = idle_in(first, registry, now);
    return idle != nullptr ? idle : idle_in(second, registry, now);
}

Entry* BucketTable::make_place_slow(const TableKey& key, LimitRegistry& registry,
                                    Now now) noexcept {
    if (Entry* idle = make_place_at_hand(key, registry, now)) {
        return idle;
    }
    return may_search() ? search_slow(key, registry, now) : nullptr;
}

Entry* BucketTable::idle_in(std::size_t index, LimitRegistry& registry, Now now) noexcept {
    if (ended_in(line(index), now.at) == 0) {
        return nullptr;
    }
    for (Entry& entry : line(index).entries) {
        if (registry.forget_if_idle(entry, now)) {
            return &entry;
        }
    }
    return nullptr;
}

Entry* BucketTable::search_slow(const TableKey& key, LimitRegistry& registry, Now now) noexcept {
    Search search;
    search.push(first_of(key), 0, 0);
    search.push(other_of(first_of(key), key.slot_and_tag), 1, 0);
    for (std::size_t at = 0; at < search.size(); ++at) {
        --searches_.credit;
        const std::size_t here = search[at].line;
        if (at >= Search::kRoots) {
            if (Entry* idle = idle_in(here, registry, now)) {
                searches_.reluctance /= 2;
                return move_along({search, at}, idle, registry, now);
            }
        }
        for (std::size_t i = 0; i < kEntries; ++i) {
            const Entry& entry = line(here).entries[i];
            const std::size_t other = other_of(here, entry.slot_and_tag());
            if (!entry.held() && !search.path_has(at, other)) {
                prefetch0(&line(other));
                search.push(other, at, i);
            }
        }
    }
    ++searches_.failed;
    searches_.reluctance = std::min(searches_.reluctance + 1, kMostReluctance);
    return nullptr;
}

// Moves the entries of a path, last first, each into the place the one after it has left. Nothing
// else has written since the search read them. What the sweep may pass by while it moves is brought
// up to date here.
Entry* BucketTable::move_along(const Path& path, Entry* idle, LimitRegistry& registry,
                               Now now) noexcept {
    const Search& search = path.search;
    for (std::size_t at = path.last; at >= Search::kRoots; at = search[at].parent) {
        Entry& from = line(search[search[at].parent].line).entries[search[at].entry];
        move(from, *idle, registry, now);
        idle = &from;
    }
    return idle;
}

void BucketTable::move(Entry& from, Entry& to, LimitRegistry& registry, Now now) noexcept {
    registry.update(from, now);
    // The entry is there twice for a moment, never not at all.
    store_word(to.time, from.time);
    store_word(to.key, from.key);
    from.clear();
    ++moves_;
}

[[gnu::noinline]] Entry* BucketTable::come_home_slow(Entry& guest, const TableKey& key,
                                                     LimitRegistry& registry, Now now) noexcept {
    Line& first = line(first_of(key));
    if (guest.held()) {
        return &guest;
    }
    Entry& home = *entry_of(first, empty_in(first));
    move(guest, home, registry, now);
    return &home;
}

void BucketTable::sweep(std::size_t lines, LimitRegistry& registry, Now now) noexcept {
    for (std::size_t i = 0; i < lines; ++i) {
        Line& here = line(swept_);
        ask_for_rows(swept_ + kRowsAhead, registry, now);
        if (registry.stale() ? empty_in(here) != kAllEntries : has_idle(here, now.at)) {
            sweep_line(here, registry, now);
        }
        swept_ = swept_ + 1 == lines_ ? 0 : swept_ + 1;
        prefetch0(
            &line(swept_ + lines + kRowsAhead < lines_ ? swept_ + lines + kRowsAhead - 1 : 0));
    }
}

// There are more limits than the nearest cache holds.
void BucketTable::ask_for_rows(std::size_t index, const LimitRegistry& registry,
                               Now now) const noexcept {
    if (index >= lines_) {
        return;
    }
    if (registry.stale()) [[unlikely]] {
        for (const Entry& entry : line(index).entries) {
            registry.ask_for_change(entry);
        }
    } else if (has_idle(line(index), now.at)) {
        for (const Entry& entry : line(index).entries) {
            registry.ask_for_row(entry);
        }
    }
}

void BucketTable::sweep_line(Line& line, LimitRegistry& registry, Now now) noexcept {
    for (Entry& entry : line.entries) {
        if (!entry.empty()) {
            registry.update(entry, now);
            registry.forget_if_left(entry, now);
        }
    }
}

Entry* BucketTable::twin_of(std::size_t position) noexcept {
    const Entry& entry = at(position);
    const std::size_t here = position / kEntries;
    for (const std::size_t index : {here, other_of(here, entry.slot_and_tag())}) {
        for (Entry& other : line(index).entries) {
            if (&other != &entry && other.slot_and_tag() == entry.slot_and_tag()) {
                return &other;
            }
        }
    }
    return nullptr;
}

// Word by word, since another thread may end it meanwhile.
Entry* BucketTable::last_of(const TableKey& key) const noexcept {
    const Lines lines = lines_of(key);
    for (Entry* first : {lines.first, lines.second}) {
        for (Entry& entry : as_line(first).entries) {
            if ((load_word(entry.key) & kSlotAndTagMask) == key.slot_and_tag) {
                return &entry;
            }
        }
    }
    return nullptr;
}

Entry BucketTable::read(const TableKey& key) const noexcept {
    const Entry* entry = last_of(key);
    return entry == nullptr ? Entry{} : Entry{load_word(entry->time), load_word(entry->key)};
}

Entry BucketTable::peek(const TableKey& key) const noexcept {
    // Entries move from the second line home: the first is read once more.
    const Entry* entry = last_of(key);
    entry = entry != nullptr ? entry : last_of(key);
    if (entry == nullptr) {
        return {};
    }
    const Entry seen = read_whole(*entry);
    return seen.slot_and_tag() == key.slot_and_tag ? seen : Entry{};
}

void BucketTable::end(const TableKey& key) const noexcept {
    if (Entry* entry = last_of(key)) {
        store_word(entry->time, 0);
    }
}

void BucketTable::end_beside_owner(const TableKey& key) const noexcept {
    constexpr int kTries = 3;
    for (int left = kTries; left > 0; --left) {
        Entry* entry = last_of(key);
        if (entry == nullptr) {
            return;
        }
        const Entry seen = read_whole(*entry);
        if (seen.slot_and_tag() == key.slot_and_tag && end_if_same(*entry, seen)) {
            return;
        }
    }
}

Entry BucketTable::read(std::size_t position) const noexcept {
    return read_whole(line(position / kEntries).entries[position % kEntries]);
}

Entry BucketTable::read_near(std::size_t position, std::uint64_t slot_and_tag) const noexcept {
    const std::size_t at = position / kEntries;
    return at < lines_ ? read_in_lines(at, slot_and_tag) : Entry{};
}

Entry BucketTable::read_alike(const BucketTable& other, std::size_t position,
                              std::uint64_t slot_and_tag, std::uint64_t wanted) const noexcept {
    const std::size_t at = position / kEntries;
    if (at >= other.lines_) {
        return {};
    }
    // The least hash, of 39 bits, that leads to a line there, and the line that it leads to here.
    const auto least_of = [&](std::size_t line) {
        return ((Wide{line} << 39) + other.lines_ - 1) / other.lines_;
    };
    const auto here = [&](Wide hash) { return static_cast<std::size_t>((hash * lines_) >> 39); };
    for (const std::size_t home : {at, other.other_of(at, slot_and_tag)}) {
        const std::size_t first = here(least_of(home));
        const std::size_t last = here(least_of(home + 1) - 1);
        for (std::size_t line = first; line <= last && last - first < kMostAlike; ++line) {
            if (const Entry entry = read_in_lines(line, wanted); !entry.empty()) {
                return entry;
            }
        }
    }
    return {};
}

Entry BucketTable::read_in_lines(std::size_t first, std::uint64_t slot_and_tag) const noexcept {
    for (const std::size_t index : {first, other_of(first, slot_and_tag)}) {
        for (const Entry& one : line(index).entries) {
            if (const Entry entry = read_whole(one); entry.slot_and_tag() == slot_and_tag) {
                return entry;
            }
        }
    }
    return {};
}

}  // namespace sluice
