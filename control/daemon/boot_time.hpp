#pragma once
#include <chrono>
#include <functional>
#include <string>

namespace sluice {

// An instant on CLOCK_BOOTTIME, which cannot be set and goes on while the machine sleeps,
// and the boot that it counts from. It outlives processes, and means nothing after a reboot.
struct BootTime {
    std::string boot;  // empty: unknown
    std::chrono::nanoseconds since{};

    [[nodiscard]] bool operator==(const BootTime&) const = default;
};
using BootClock = std::function<BootTime()>;

[[nodiscard]] BootTime boot_time();

// The time left until `end`, 0 when it is over; a reboot ends everything.
[[nodiscard]] std::chrono::nanoseconds left_until(const BootTime& end, const BootTime& now);

}  // namespace sluice
