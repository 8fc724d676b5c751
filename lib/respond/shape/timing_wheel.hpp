#pragma once
#include "lib/base/lazy_array.hpp"
#include "lib/base/units.hpp"
#include "lib/respond/shape/slot_bitmap.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

// Entries due at an instant, for millions of these: a wheel of slots of equal length, as Carousel
// (SIGCOMM 2017) has it, with a bitmap by which the next taken slot is found in a few steps, as
// Eiffel (NSDI 2019) does.
//
//              cursor           due
//     ...|......|......|......|......|......|...   2^22 slots of 2^14 ns: 68.7 s ahead
//                              `-> a -> b -> c     in the order in which they came
//
// An entry leaves at the first look at or after the end of the slot that its instant lies in: never
// early, and late by a slot (16.4 us) and the time between two looks at most. That is a third of
// the 50 us that departures may be late, and the horizon is what a packet may be delayed for
// (kLongestDelay) with the time that a worker may stand still for behind it.
//
// Order: of two entries the one with the later instant never leaves first, and entries of one slot
// leave in the order in which they came. So entries whose instants never go back in the order of
// their coming, as those of one key's bucket, keep that order.
//
// Everything is allocated at once, and touched as it is used. Time is an argument.
namespace sluice {

class SlotTime {
public:
    static constexpr unsigned kWidthBits = 14;
    static constexpr Nanoseconds kWidth{std::int64_t{1} << kWidthBits};

    // The last slot that has ended or ends now.
    [[nodiscard]] static std::uint64_t ended(Instant now) noexcept {
        return static_cast<std::uint64_t>(now.time_since_epoch().count()) >> kWidthBits;
    }
    // The slot at whose end what is due at that instant leaves.
    [[nodiscard]] static std::uint64_t of(Instant due) noexcept {
        return ended(due + kWidth - Nanoseconds{1});
    }
};

template <typename T>
class TimingWheel {
    static_assert(std::is_trivially_copyable_v<T>);

public:
    static constexpr Nanoseconds kHorizon = SlotTime::kWidth * (SlotBitmap::kSlots - 1);

    explicit TimingWheel(std::uint32_t capacity)
        : capacity_{capacity},
          entries_{zeroed_array<Entry>(capacity + std::size_t{1})},
          tails_{zeroed_array<Link>(SlotBitmap::kSlots)} {}

    [[nodiscard]] std::uint32_t size() const noexcept { return size_; }
    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
    [[nodiscard]] std::uint32_t capacity() const noexcept { return capacity_; }

    // `now` and those of later calls never go back. What is due beyond the horizon, from the oldest
    // entry that is due or from `now`, leaves at it.
    // False: it is full.
    [[nodiscard]] bool insert(const T& value, Instant now, Instant due) noexcept {
        const Link link = take_link();
        if (link == kNone) {
            return false;
        }
        if (size_ == 0) {
            cursor_ = SlotTime::ended(now);
        }
        const std::uint64_t slot = std::clamp(SlotTime::of(due), cursor_, cursor_ + kMask);
        entries_[link].value = value;
        append(static_cast<std::uint32_t>(slot & kMask), link);
        ++size_;
        return true;
    }

    // Takes the entries due by `now`, in order, as many as there is room for; how many.
    [[nodiscard]] std::size_t take_due(Instant now, std::span<T> out) noexcept {
        const std::uint64_t last = SlotTime::ended(now);
        const std::size_t count = take_until(last, out);
        cursor_ = std::max(cursor_, size_ == 0 ? last : std::min(last, first()));
        return count;
    }
    // The same of whatever there is. What comes later still leaves when it is due.
    [[nodiscard]] std::size_t take_any(std::span<T> out) noexcept {
        return take_until(cursor_ + kMask, out);
    }

private:
    using Link = std::uint32_t;
    static constexpr Link kNone = 0;
    static constexpr std::uint64_t kMask = SlotBitmap::kSlots - 1;

    struct Entry {
        T value;
        Link next;
    };

    // Links given back come first, then those that nothing was in yet.
    [[nodiscard]] Link take_link() noexcept {
        if (free_ != kNone) {
            const Link link = free_;
            free_ = entries_[link].next;
            return link;
        }
        return used_ == capacity_ ? kNone : ++used_;
    }
    void give_back(Link link) noexcept {
        entries_[link].next = free_;
        free_ = link;
    }

    // A slot is a ring: its tail's successor is its head.
    void append(std::uint32_t slot, Link link) noexcept {
        Link& tail = tails_[slot];
        if (tail == kNone) {
            entries_[link].next = link;
            taken_.set(slot);
        } else {
            entries_[link].next = entries_[tail].next;
            entries_[tail].next = link;
        }
        tail = link;
    }
    [[nodiscard]] T take_head(std::uint32_t slot) noexcept {
        Link& tail = tails_[slot];
        const Link head = entries_[tail].next;
        const T value = entries_[head].value;
        if (head == tail) {
            tail = kNone;
            taken_.clear(slot);
        } else {
            entries_[tail].next = entries_[head].next;
        }
        give_back(head);
        --size_;
        return value;
    }

    // The first slot that holds anything; something is held.
    [[nodiscard]] std::uint64_t first() const noexcept {
        const auto at = static_cast<std::uint32_t>(cursor_ & kMask);
        return cursor_ + ((taken_.next(at) - at) & kMask);
    }
    [[nodiscard]] std::size_t take_until(std::uint64_t last, std::span<T> out) noexcept {
        std::size_t count = 0;
        while (size_ != 0 && count < out.size()) {
            const std::uint64_t slot = first();
            if (slot > last) {
                break;
            }
            const auto at = static_cast<std::uint32_t>(slot & kMask);
            while (count < out.size() && tails_[at] != kNone) {
                out[count++] = take_head(at);
            }
        }
        return count;
    }

    std::uint32_t capacity_;
    std::uint32_t size_ = 0;
    Link free_ = kNone;
    Link used_ = 0;
    std::uint64_t cursor_ = 0;  // no earlier slot holds anything
    SlotBitmap taken_;
    LazyArray<Entry> entries_;  // the first is nobody's
    LazyArray<Link> tails_;     // by slot
};

}  // namespace sluice
