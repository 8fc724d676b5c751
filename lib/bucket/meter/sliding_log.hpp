#pragma once
#include "lib/bucket/meter/recent_units.hpp"
#include "lib/bucket/meter/window_limit.hpp"

namespace sluice {

// Every charge with its instant: exactly `count` units in any window W. Charges of one ns are one
// record, so memory follows the number of different instants in the last W.
class LogSlots {
public:
    struct Record {
        std::uint64_t slot;
        std::uint64_t units;
    };

    explicit LogSlots(const SlidingLogLimit& limit) noexcept
        : count_{limit.numbers.count}, window_{limit.numbers.window} {}

    [[nodiscard]] std::uint64_t count() const noexcept { return count_; }

    [[nodiscard]] std::uint64_t of(Instant now) const noexcept {
        return static_cast<std::uint64_t>(now.time_since_epoch().count());
    }
    [[nodiscard]] Instant leaves(std::uint64_t slot) const noexcept {
        return Instant{Nanoseconds{static_cast<std::int64_t>(slot) + window_}};
    }

    [[nodiscard]] bool has_left(std::uint64_t slot, std::uint64_t in) const noexcept {
        return leaves(slot) <= Instant{Nanoseconds{static_cast<std::int64_t>(in)}};
    }

    static Record pack(std::uint64_t slot, std::uint64_t units) noexcept { return {slot, units}; }
    static std::uint64_t slot_in(const Record& record, std::uint64_t /*newest*/) noexcept {
        return record.slot;
    }
    static std::uint64_t units_in(const Record& record) noexcept { return record.units; }
    static void set_units(Record& record, std::uint64_t units) noexcept { record.units = units; }

private:
    std::uint64_t count_;
    std::int64_t window_;
};

using SlidingLog = RecentUnits<LogSlots>;
static_assert(sizeof(SlidingLog) <= kLineBytes);

}  // namespace sluice
