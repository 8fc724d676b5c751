#pragma once
#include "lib/base/units.hpp"

#include <ctime>

namespace sluice {

// Through the vDSO, not by a system call.
[[nodiscard]] inline Nanoseconds read_clock(clockid_t clock) noexcept {
    timespec now{};
    (void)::clock_gettime(clock, &now);
    return std::chrono::seconds{now.tv_sec} + Nanoseconds{now.tv_nsec};
}

}  // namespace sluice
