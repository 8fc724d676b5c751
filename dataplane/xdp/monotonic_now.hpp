#pragma once
#include <cstdint>
#include <ctime>

namespace sluice {

// CLOCK_MONOTONIC in ns: the clock of programs in the kernel.
[[nodiscard]] inline std::uint64_t monotonic_now() noexcept {
    timespec now{};
    (void)::clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U +
           static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace sluice
