#pragma once
#include "control/cli/simulate/load.hpp"
#include "lib/bucket/meter/any_limit.hpp"

#include <cstdint>
#include <vector>

namespace sluice {

inline constexpr std::size_t kMostBars = 100'000;

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
};

// Units of one stretch of time.
struct Bar {
    std::uint64_t offered = 0;
    std::uint64_t green = 0;
    std::uint64_t yellow = 0;
    std::uint64_t refused = 0;
    std::uint64_t leaving = 0;  // leaky bucket: out of its queue

    [[nodiscard]] std::uint64_t admitted() const { return green + yellow; }
    [[nodiscard]] bool operator==(const Bar&) const = default;
};

struct Outcome {
    std::vector<Bar> bars;
    Bar total;
    std::uint64_t waiting = 0;  // of the backlog, or stalled, at the end
    std::uint64_t most_in_window = 0;
    std::optional<Instant> last_admitted;
    bool cut = false;  // ended by kMostBars, kMostArrivals or kLongestRun
};

// One bucket under this limit, under this load on a virtual clock that starts at 0 s, which is
// also 0 s of UTC.
[[nodiscard]] Outcome simulate(const AnyLimit& limit, const Load& load, const Course& course);

}  // namespace sluice
