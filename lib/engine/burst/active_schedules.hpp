#pragma once
#include "lib/base/units.hpp"
#include "lib/rules/schedule.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace sluice {

// The schedules that hold, as one worker follows them: looked up anew when one may have changed,
// when the clock was set back, and under another rule set.
class ActiveSchedules {
public:
    void follow(std::span<const Schedule> schedules, std::uint64_t load, Nanoseconds utc) noexcept {
        if (load == load_ && from_ <= utc && utc < until_) [[likely]] {
            return;
        }
        load_ = load;
        bits_ = kAlways;
        from_ = utc;
        until_ = Nanoseconds::max();
        for (std::size_t i = 0; i < schedules.size(); ++i) {
            const ScheduleState state = state_at(schedules[i], utc);
            bits_ |= std::uint64_t{state.active ? 1U : 0U} << (i + 1);
            until_ = std::min(until_, state.until);
        }
    }
    // By the number that rules have; 0 always holds.
    [[nodiscard]] bool holds(std::uint8_t schedule) const noexcept {
        return ((bits_ >> schedule) & 1) != 0;
    }

private:
    static constexpr std::uint64_t kAlways = 1;

    std::uint64_t bits_ = kAlways;
    std::uint64_t load_ = 0;
    Nanoseconds from_{};
    Nanoseconds until_{};
};

}  // namespace sluice
