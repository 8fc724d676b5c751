#pragma once
#include "lib/base/units.hpp"
#include "lib/bucket/hash/group_key.hpp"
#include "lib/bucket/meter/any_meter.hpp"
#include "lib/share/word.hpp"

#include <cstddef>
#include <cstdint>

// One bucket's place in a table: 16 bytes, four to a line.
//
//   time   fresh from, ns: 58 | version: 3 | level: 2 | held: 1
//   key    rest, or a lease, or a generation: 24 | slot: 15 | tag: 25
//
// The instant stands on top, so that one signed compare of `time` decides for every algorithm
// whether the entry may be forgotten. The slot names the limit, and with it the share that an idle
// entry took and its lines of the pool; version and aggregation level name the numbers it was
// written under: aggregation level 0 is the limit itself, 1 to 3 what it coarsens to in a full
// table. Version kOwnNumbers says that the key has numbers of its own, which lie with its state in
// a line of the pool (own_bucket.hpp). An empty entry is all zeroes; slot 0 is no limit's.
namespace sluice {

inline constexpr unsigned kTagBits = 25;
inline constexpr unsigned kSlotBits = 15;
inline constexpr unsigned kRestShift = kTagBits + kSlotBits;
inline constexpr unsigned kInstantShift = 6;
inline constexpr unsigned kVersionShift = 3;
inline constexpr unsigned kLevelShift = 1;
inline constexpr std::uint64_t kHeld = 1;
inline constexpr std::uint64_t kSlotAndTagMask = (std::uint64_t{1} << kRestShift) - 1;
inline constexpr std::size_t kSlots = std::size_t{1} << kSlotBits;

// A limit's name in the entries of a table; 0 is none.
using LimitSlot = std::uint16_t;

inline constexpr std::uint8_t kOwnNumbers = 7;
inline constexpr std::uint32_t kMostLease = (std::uint32_t{1} << (64 - kRestShift)) - 1;
inline constexpr std::uint32_t kMaxOverrideGeneration = kMostLease;

// The numbers an entry was written under.
struct Stamp {
    std::uint8_t version = 0;            // below kNumberVersions
    std::uint8_t aggregation_level = 0;  // 0 to 3
    [[nodiscard]] constexpr bool operator==(const Stamp&) const noexcept = default;
};

// The home of a key, and what it is known by there.
struct TableKey {
    std::uint64_t hash = 0;
    std::uint64_t slot_and_tag = 0;  // slot and tag, as in Entry::key

    constexpr TableKey() noexcept = default;
    constexpr TableKey(GroupKey key, LimitSlot slot) noexcept
        : hash{key.hash},
          slot_and_tag{(std::uint64_t{slot} << kTagBits) | (key.hash >> (64 - kTagBits))} {}
    // The key of no entry, not even an empty one.
    [[nodiscard]] static constexpr TableKey nobody() noexcept {
        TableKey key;
        key.slot_and_tag = ~std::uint64_t{0};
        return key;
    }
};

// The same key under another slot.
[[nodiscard]] constexpr TableKey with_slot(const TableKey& key, LimitSlot slot) noexcept {
    return {GroupKey{key.hash}, slot};
}

[[nodiscard]] constexpr LimitSlot slot_of(const TableKey& key) noexcept {
    return static_cast<LimitSlot>(key.slot_and_tag >> kTagBits);
}

struct Entry {
    std::uint64_t time = 0;
    std::uint64_t key = 0;

    [[nodiscard]] std::uint64_t slot_and_tag() const noexcept { return key & kSlotAndTagMask; }
    [[nodiscard]] LimitSlot slot() const noexcept {
        return static_cast<LimitSlot>(slot_and_tag() >> kTagBits);
    }
    [[nodiscard]] Stamp stamp() const noexcept {
        return {static_cast<std::uint8_t>((time >> kVersionShift) & 7U),
                static_cast<std::uint8_t>((time >> kLevelShift) & 3U)};
    }
    [[nodiscard]] bool has_own_numbers() const noexcept {
        constexpr std::uint64_t kVersion = std::uint64_t{kOwnNumbers} << kVersionShift;
        return (time & kVersion) == kVersion;
    }
    [[nodiscard]] bool held() const noexcept { return (time & kHeld) != 0; }
    [[nodiscard]] bool empty() const noexcept { return slot() == 0; }
    [[nodiscard]] Instant fresh_from() const noexcept {
        return Instant{Nanoseconds{static_cast<std::int64_t>(time) >> kInstantShift}};
    }
    // Equals a fresh bucket: may be forgotten, if its limit's numbers are still those it was
    // written under.
    [[nodiscard]] bool idle(Instant now) const noexcept { return fresh_from() <= now; }

    [[nodiscard]] Cell cell() const noexcept {
        return {fresh_from(), static_cast<std::uint32_t>(key >> kRestShift)};
    }
    // Takes the place for a key, held.
    void file(const Cell& cell, std::uint64_t slot_and_tag_bits, Stamp stamp) noexcept {
        const auto ns = static_cast<std::uint64_t>(cell.fresh_from.time_since_epoch().count());
        // The time first: a reader that finds the key must not find an older time with it.
        store_word(time, (ns << kInstantShift) | (std::uint64_t{stamp.version} << kVersionShift) |
                             (std::uint64_t{stamp.aggregation_level} << kLevelShift) | kHeld);
        store_word(key, (std::uint64_t{cell.rest} << kRestShift) | slot_and_tag_bits);
    }
    // A new state under the same numbers; stays held if it was.
    void write(const Cell& cell) noexcept {
        constexpr std::uint64_t kLow = (std::uint64_t{1} << kInstantShift) - 1;
        const auto ns = static_cast<std::uint64_t>(cell.fresh_from.time_since_epoch().count());
        store_word(time, (ns << kInstantShift) | (time & kLow));
        store_word(key, (std::uint64_t{cell.rest} << kRestShift) | slot_and_tag());
    }
    // A new state of a token or leaky bucket under other numbers. In between it owes less than a ns
    // more, and its rest, which counts in parts of the numbers, is never read under the others.
    void write_under(std::uint8_t version, const Cell& cell) noexcept {
        store_word(key, slot_and_tag());
        write_time(version, cell.fresh_from);
        store_word(key, (std::uint64_t{cell.rest} << kRestShift) | slot_and_tag());
    }
    // The same where the state lies in a line, which stays.
    void write_time(std::uint8_t version, Instant fresh) noexcept {
        constexpr std::uint64_t kStay = (std::uint64_t{3} << kLevelShift) | kHeld;
        const auto ns = static_cast<std::uint64_t>(fresh.time_since_epoch().count());
        store_word(time, (ns << kInstantShift) | (std::uint64_t{version} << kVersionShift) |
                             (time & kStay));
    }
    // And nothing else of it changes: of a bucket whose state lies in a line.
    void write_instant(Instant fresh) noexcept {
        constexpr std::uint64_t kLow = (std::uint64_t{1} << kInstantShift) - 1;
        const auto ns = static_cast<std::uint64_t>(fresh.time_since_epoch().count());
        store_word(time, (ns << kInstantShift) | (time & kLow));
    }
    // Restores an entry: what an earlier process left half done is taken back.
    void put_back(const Entry& before) noexcept {
        store_word(time, before.time);
        store_word(key, before.key);
    }
    // A lease (lib/peer/merge/charge_ahead.hpp) lies where parts of a ns would: only a bucket whose
    // limit has none may have one. bucket_in() reads the bucket without it, and put_bucket() keeps
    // it.
    [[nodiscard]] std::uint32_t lease() const noexcept {
        return static_cast<std::uint32_t>(key >> kRestShift);
    }
    void set_lease(std::uint32_t units) noexcept {
        store_word(key, (std::uint64_t{units} << kRestShift) | slot_and_tag());
    }
    // At most lease() units.
    void spend_lease(std::uint64_t units) noexcept { store_word(key, key - (units << kRestShift)); }
    // In the same place, where keys may have overrides: the generation of overrides
    // (LimitRegistry::override_generation()) in which this key is known to have none, so that it
    // need not be looked up again.
    [[nodiscard]] bool known_unoverridden(std::uint32_t override_generation) const noexcept {
        return key >> kRestShift == override_generation;
    }
    void note_unoverridden(std::uint32_t override_generation) noexcept {
        store_word(key, (std::uint64_t{override_generation} << kRestShift) | slot_and_tag());
    }
    void hold() noexcept { store_word(time, time | kHeld); }
    void release() noexcept { store_word(time, time & ~kHeld); }
    void clear() noexcept {
        store_word(time, 0);
        store_word(key, 0);
    }
};
static_assert(sizeof(Entry) == 16, "four to a 64-byte line");
static_assert(kEndOfInstants.time_since_epoch().count() == INT64_MAX >> kInstantShift,
              "the latest instant that an entry holds");

// Another core's entry, as two words that belong together.
[[nodiscard]] inline Entry read_whole(const Entry& entry) noexcept {
    Entry seen;
    do {
        seen.key = load_word(entry.key);
        seen.time = load_word(entry.time);
    } while (load_word(entry.key) != seen.key);
    return seen;
}

// Ends what another core's entry owes, if it is as it was seen: from then on it equals a fresh one,
// and its owner forgets it. False: the owner has changed it meanwhile.
[[nodiscard]] inline bool end_if_same(Entry& entry, const Entry& seen) noexcept {
    // The bits that define the rest's meaning stay: it may lead to lines of a pool.
    constexpr std::uint64_t kLow = (std::uint64_t{1} << kInstantShift) - 1;
    return exchange_words(reinterpret_cast<WordPair&>(entry), {seen.time, seen.key},
                          {seen.time & kLow, seen.key});
}

}  // namespace sluice
