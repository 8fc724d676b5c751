#pragma once
#include "lib/base/wide.hpp"
#include "lib/bucket/meter/recent_units.hpp"
#include "lib/bucket/meter/window_limit.hpp"

namespace sluice {

// A counter for each sub-window, with edges at floor(k * W / buckets) ns:
//
//   |-----|-----|-----|-----|-----|          strict sums the current one and `buckets` before it,
//      `------ the last W ------> now        lenient one fewer
//
// Strict: at most `count` in any window W. Lenient: at most `count` in any W - W/buckets, and
// 2 * count in any W. Only sub-windows with something in them take memory.
class SubWindowSlots {
public:
    // 12 bytes. The lower half of the index is enough: all lie close before the newest.
    struct Record {
        std::uint32_t index;
        std::array<std::uint32_t, 2> units;
    };

    explicit SubWindowSlots(const SlidingCountersLimit& limit) noexcept
        : count_{limit.numbers.count},
          window_{static_cast<std::uint64_t>(limit.numbers.window)},
          buckets_{limit.buckets},
          lasts_{limit.buckets + (limit.edge == Edge::Strict ? 1U : 0U)} {}

    [[nodiscard]] std::uint64_t count() const noexcept { return count_; }

    // The largest k with k * W / buckets < now + 1.
    [[nodiscard]] std::uint64_t of(Instant now) const noexcept {
        const auto time = static_cast<std::uint64_t>(now.time_since_epoch().count());
        const Wide parts = static_cast<Wide>(time % window_ + 1) * buckets_ - 1;
        return time / window_ * buckets_ + quotient(parts, window_);
    }
    [[nodiscard]] Instant leaves(std::uint64_t slot) const noexcept {
        const std::uint64_t edge = slot + lasts_;
        const Wide into = static_cast<Wide>(edge % buckets_) * window_;
        const std::uint64_t at = edge / buckets_ * window_ + quotient(into, buckets_);
        return Instant{Nanoseconds{static_cast<std::int64_t>(at)}};
    }

    // True if leaves(slot) has come in a slot of(now), without a division.
    [[nodiscard]] bool has_left(std::uint64_t slot, std::uint64_t in) const noexcept {
        return slot + lasts_ <= in;
    }

    static Record pack(std::uint64_t slot, std::uint64_t units) noexcept {
        Record record{static_cast<std::uint32_t>(slot), {}};
        set_units(record, units);
        return record;
    }
    static std::uint64_t slot_in(const Record& record, std::uint64_t newest) noexcept {
        return newest - (static_cast<std::uint32_t>(newest) - record.index);
    }
    static std::uint64_t units_in(const Record& record) noexcept {
        return (std::uint64_t{record.units[1]} << 32U) | record.units[0];
    }
    static void set_units(Record& record, std::uint64_t units) noexcept {
        record.units = {static_cast<std::uint32_t>(units),
                        static_cast<std::uint32_t>(units >> 32U)};
    }

private:
    // Windows of up to ten days or so need no wide division.
    static std::uint64_t quotient(Wide dividend, std::uint64_t divisor) noexcept {
        const auto low = static_cast<std::uint64_t>(dividend);
        return low == dividend ? low / divisor : static_cast<std::uint64_t>(dividend / divisor);
    }

    std::uint64_t count_;
    std::uint64_t window_;
    std::uint32_t buckets_;
    std::uint32_t lasts_;  // sub-windows that a unit counts in, its own among them
};

using SlidingCounters = RecentUnits<SubWindowSlots>;
static_assert(sizeof(SlidingCounters) <= kLineBytes);

}  // namespace sluice
