#pragma once
#include "lib/base/units.hpp"

#include <cstdint>

namespace sluice {

// Seconds and nanoseconds as libpcap hands them out -> Instant, clamped to [0, kLastInstant].
// libpcap reads the unsigned 32-bit seconds of a classic pcap into a signed number, so that a
// record from after January 2038 comes out as one from before 1970: that is undone here.
[[nodiscard]] constexpr Instant capture_instant(std::int64_t seconds,
                                                std::int64_t nanoseconds) noexcept {
    constexpr std::int64_t kWrap = std::int64_t{1} << 32;
    constexpr std::int64_t kPerSecond = 1'000'000'000;
    constexpr std::int64_t kLast = kLastInstant.time_since_epoch().count();
    if (seconds < 0 && seconds >= -(kWrap / 2)) {
        seconds += kWrap;
    }
    if (seconds < 0) {
        return Instant{};
    }
    if (seconds > kLast / kPerSecond) {
        return kLastInstant;
    }
    // tv_usec is 32 bits wide in the file, so the sum stays far from 2^63.
    const std::int64_t total = seconds * kPerSecond + nanoseconds;
    return Instant{Nanoseconds{total < 0 ? 0 : (total > kLast ? kLast : total)}};
}

}  // namespace sluice
