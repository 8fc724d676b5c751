#pragma once
#include "lib/base/units.hpp"

#include <cstdint>

namespace sluice {

// Seconds and nanoseconds since 1970, UTC -> Instant, clamped to [0, kLastInstant]. The nanoseconds
// are 32 bits wide.
[[nodiscard]] constexpr Instant clamped_instant(std::int64_t seconds,
                                                std::int64_t nanoseconds) noexcept {
    constexpr std::int64_t kPerSecond = 1'000'000'000;
    constexpr std::int64_t kLast = kLastInstant.time_since_epoch().count();
    if (seconds < 0) {
        return Instant{};
    }
    if (seconds > kLast / kPerSecond) {
        return kLastInstant;
    }
    const std::int64_t total = seconds * kPerSecond + nanoseconds;
    return Instant{Nanoseconds{total < 0 ? 0 : (total > kLast ? kLast : total)}};
}

// The same as libpcap hands them out. It reads the unsigned 32-bit seconds of a classic pcap into a
// signed number, so that a record from after January 2038 comes out as one from before 1970: that
// is undone here.
[[nodiscard]] constexpr Instant capture_instant(std::int64_t seconds,
                                                std::int64_t nanoseconds) noexcept {
    constexpr std::int64_t kWrap = std::int64_t{1} << 32;
    const bool wrapped = seconds < 0 && seconds >= -(kWrap / 2);
    return clamped_instant(wrapped ? seconds + kWrap : seconds, nanoseconds);
}

}  // namespace sluice
