#pragma once
#include <chrono>
#include <cstdint>

namespace sluice {

// An instant that tells one start of a dataplane from another, for numbers that count from its
// start.
[[nodiscard]] inline std::uint64_t time_of_start() {
    return static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
}

}  // namespace sluice
