#pragma once
#include "lib/base/now.hpp"
#include "lib/rules/load/loaded_set.hpp"
#include "lib/share/core.hpp"
#include "lib/share/record_ring.hpp"
#include "lib/watch/events/event_record.hpp"
#include "lib/watch/events/watched_keys.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace sluice {

// A worker's end of `events`: it watches the keys that limits refuse and that are banned, and tells
// what is due of them. Everything is bounded; what finds no place is counted, and nobody waits.
//
//   first refusal      LimitStart
//   `refill`           Refill, at the very instant at which the bucket admits again what it refused
//   kQuiet of silence  LimitEnd
//   a ban              BanStart, BanEnd
class KeyEvents {
public:
    // A key that has not been refused for so long is no longer limited.
    static constexpr Nanoseconds kQuiet = std::chrono::seconds{1};
    // One key's refills are told so far apart: who goes on sending takes each unit as it comes.
    static constexpr Nanoseconds kRefillGap = std::chrono::milliseconds{100};
    static constexpr std::size_t kKeys = 16'384;
    static constexpr std::size_t kRingSize = 4096;
    // Events told at once: a worker's packets do not wait for more.
    static constexpr std::size_t kMostAtOnce = 64;

    struct Bounds {
        std::size_t keys = kKeys;
        std::size_t ring = kRingSize;
    };
    KeyEvents() : KeyEvents(Bounds{}) {}
    explicit KeyEvents(const Bounds& bounds);

    // The rule set that is meant from now on. Keys of limits that it has too are watched on; what
    // it no longer reports is forgotten, without an end.
    void adopt(const LoadedSet& set) noexcept {
        if (load_ != set.load) [[unlikely]] {
            adopt_other(set);
        }
    }

    // The subject of an event.
    struct About {
        TableKey key;                // of the bucket, or the box
        std::uint64_t identity = 0;  // of the limit, or the box
        std::uint32_t rule = 0;
        std::uint8_t limit = 0;
        std::uint8_t rule_key = 0;
        EdgeEventSet events;
        bool is_wider = false;
    };
    [[nodiscard]] WatchedKey* find(const TableKey& key) noexcept { return keys_.find(key); }
    // A key that is not watched yet: a place for it, with its bytes. nullptr (counted): none.
    [[nodiscard]] WatchedKey* watch(const About& about, ByteView bytes) noexcept;
    // Another refusal of a watched key: `wait` until its cost is admitted; kNever: never, or not
    // known.
    void refused(WatchedKey& watched, Units cost, Nanoseconds wait, Now now) noexcept;
    // The same, while what was refused before is still waited for.
    void refused_again(WatchedKey& watched, Now now) noexcept;
    // True if refused() has to be told the wait.
    [[nodiscard]] static bool asks_wait(const WatchedKey& watched, Now now) noexcept {
        return watched.end == kNoInstant ||
               (watched.events.has(EdgeEvent::Refill) &&
                (watched.refill == kNoInstant || watched.refill <= now.at));
    }
    // A ban of a key that is watched from now on, or was already.
    void banned(WatchedKey& watched, Nanoseconds left, Now now) noexcept;
    // The end that a watched key waits for may have come.
    void look_again(WatchedKey& watched, Now now) noexcept;

    [[nodiscard]] bool empty() const noexcept { return keys_.size() == 0; }
    [[nodiscard]] std::size_t size() const noexcept { return keys_.size(); }
    // Tells what is due, kMostAtOnce at most. `left` says how long the key has to wait yet:
    // Nanoseconds(const WatchedKey&), for its bucket, or the end of its ban.
    template <typename Left>
    void notify_due(Now now, Left&& left) noexcept {
        for (std::size_t told = 0; told < kMostAtOnce; ++told) {
            WatchedKey* const watched = keys_.first();
            if (watched == nullptr || watched->due > now.at) {
                return;
            }
            const bool asks = watched->is_ban || watched->due != watched->end;
            tell(*watched, asks ? left(*watched) : Nanoseconds{0}, now);
        }
    }

    // For the reader.
    [[nodiscard]] RecordRing<EventRecord>& ring() noexcept { return ring_; }
    // Keys that the limit refuses now, as their events say it: from the first refusal until kQuiet
    // after the last. A key without a place is not among them.
    [[nodiscard]] std::uint64_t limited(LimitSlot slot) const noexcept {
        return limited_[slot].read();
    }
    // Events that could not be told; a key without a place counts with each refusal.
    [[nodiscard]] std::uint64_t lost() const noexcept { return lost_.read(); }

private:
    void adopt_other(const LoadedSet& set) noexcept;
    [[nodiscard]] Counter& limited_with(const WatchedKey& watched) noexcept {
        return limited_[slot_of(watched.key)];
    }
    [[nodiscard]] bool goes_on(WatchedKey& watched, const LoadedSet& set) const noexcept;
    void tell(WatchedKey& watched, Nanoseconds left, Now now) noexcept;
    void notify_ban_end(WatchedKey& watched, Nanoseconds left, Now now) noexcept;
    void emit(const WatchedKey& watched, KeyEventKind kind, Instant at, Nanoseconds length,
              Now now) noexcept;
    void schedule(WatchedKey& watched) noexcept;

    WatchedKeys keys_;
    RecordRing<EventRecord> ring_;
    // By slot: the index in the set's MeterPlan::limits, from 1 on; while a set is adopted.
    std::unique_ptr<std::uint32_t[]> limit_of_slot_;
    std::unique_ptr<Counter[]> limited_;  // by slot
    std::uint64_t load_ = 0;
    Counter lost_;
};

}  // namespace sluice
