#pragma once
#include "lib/base/units.hpp"

#include <chrono>
#include <ctime>

namespace sluice {

// Processor time of this thread.
[[nodiscard]] inline Nanoseconds processor_time() noexcept {
    timespec used{};
    (void)::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return std::chrono::seconds{used.tv_sec} + Nanoseconds{used.tv_nsec};
}

}  // namespace sluice
