#pragma once
#include <cstdint>
#include <optional>

namespace sluice {

// A rate per second, or nothing where nobody can say it: never negative, never a spike.
using LiveRate = std::optional<double>;

struct PacketRate {
    LiveRate pps{};
    LiveRate bps{};
};

// The time between two readings of one dataplane by its own clock. Readings of two dataplanes, or
// too close to one another to divide by, have none.
struct ReadingTime {
    static constexpr std::uint64_t kLeastNs = 200'000'000;

    double seconds = 0;  // 0: there are no rates

    [[nodiscard]] static ReadingTime between(std::uint64_t before_ns,
                                             std::uint64_t now_ns) noexcept {
        return now_ns < before_ns + kLeastNs
                   ? ReadingTime{}
                   : ReadingTime{static_cast<double>(now_ns - before_ns) / 1e9};
    }
    // A counter that goes back has begun anew, and says nothing until the next reading.
    [[nodiscard]] LiveRate rate(std::uint64_t before, std::uint64_t now) const noexcept {
        if (seconds <= 0 || now < before) {
            return std::nullopt;
        }
        return static_cast<double>(now - before) / seconds;
    }
    [[nodiscard]] PacketRate rates(std::uint64_t packets_before, std::uint64_t packets,
                                   std::uint64_t bytes_before, std::uint64_t bytes) const noexcept {
        const LiveRate pps = rate(packets_before, packets);
        const LiveRate byte_rate = rate(bytes_before, bytes);
        return {pps, byte_rate ? LiveRate{*byte_rate * 8} : std::nullopt};
    }
};

// The sum, where both are known.
[[nodiscard]] inline LiveRate sum(LiveRate one, LiveRate other) noexcept {
    return one && other ? LiveRate{*one + *other} : std::nullopt;
}

}  // namespace sluice
