#pragma once
#include "control/cli/exit_code.hpp"
#include "control/cli/simulate/simulate_options.hpp"
#include "lib/base/result.hpp"
#include "lib/base/units.hpp"
#include "lib/bucket/meter/color_limit.hpp"
#include "lib/rules/rule_set.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace sluice {

inline constexpr std::uint64_t kMostArrivals = 50'000'000;
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
    // To be called after the last arrival: says on standard error how a capture ended, if not well.
    std::function<ExitCode()> finish = [] { return ExitCode::Done; };
};

// Errors: BadSyntax and OutOfRange (the options), Unreachable and others (the capture).
[[nodiscard]] Result<Load> make_load(const SimulateOptions& options, const std::string& pcap_file,
                                     Per per);

}  // namespace sluice
