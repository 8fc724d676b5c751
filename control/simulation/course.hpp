#pragma once
#include "lib/base/units.hpp"
#include "lib/bucket/pool/pool_line.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace sluice {

inline constexpr std::size_t kMostBars = 100'000;
inline constexpr std::uint64_t kMostArrivals = 50'000'000;

// A time in which no request is made: arrivals of it are decided at its end.
struct Stall {
    Instant from{};
    Nanoseconds length{};

    [[nodiscard]] Instant end() const { return from + length; }
    [[nodiscard]] bool operator==(const Stall&) const = default;
};

// How a simulation runs, whatever the limit and the load.
struct Course {
    std::vector<Stall> stalls;  // in order of time
    std::optional<Nanoseconds> duration;
    Nanoseconds bar{std::chrono::milliseconds{100}};
    Nanoseconds window{std::chrono::seconds{1}};  // for `most_in_window`
    std::uint64_t seed = 1;                       // of the key that a per-key phase hangs on
    Nanoseconds start{};                          // UTC at 0 s, since 1970
    std::size_t lines = kMostLines;               // of the pool that windows are kept in
    std::uint64_t most_arrivals = kMostArrivals;  // of a load that is not a backlog
};

}  // namespace sluice
