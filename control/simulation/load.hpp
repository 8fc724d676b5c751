#pragma once
#include "lib/base/units.hpp"
#include "lib/bucket/meter/color_limit.hpp"

#include <cstdint>
#include <functional>
#include <optional>

namespace sluice {

inline constexpr std::uint64_t kLargestCost = 1'000'000'000;
// Keeps an instant and the longest debt together below 2^57 ns.
inline constexpr Nanoseconds kLongestRun = std::chrono::hours{24 * 800};

// One request to pass.
struct Arrival {
    Instant at{};
    Units cost{1};
    Color color = Color::Green;
};

// Units that all wait from 0 s on and ask again and again until they are let through.
struct Backlog {
    std::uint64_t units = 0;
    Nanoseconds ask_every{};
};

// Arrivals in order of time; nullopt: no more. Endless ones are cut by the duration.
using Arrivals = std::function<std::optional<Arrival>()>;

struct Load {
    std::optional<Backlog> backlog;  // else arrivals
    Arrivals arrivals;
    Units cost{1};
};

}  // namespace sluice
