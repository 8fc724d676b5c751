#pragma once
#include "lib/base/stat_row.hpp"

#include <cstdint>

namespace sluice {

// Changes of the clocks since the start.
struct ClockStats {
    std::uint64_t set_back = 0;          // times that UTC was set back
    std::uint64_t set_back_ns = 0;       // by how much in all
    std::uint64_t set_ahead = 0;         // times that it was set ahead
    std::uint64_t instants_left_ns = 0;  // for how long instants are good for every limit yet

    static void fields(auto& archive, auto& m) { serialize_rows(archive, m); }
};

template <>
inline constexpr auto kStatRows<ClockStats> = std::tuple{
    StatRow{&ClockStats::set_back,
            {"set_back"},
            {"sluice_clock_set_back_total", "Times that the wall clock was set back."}},
    StatRow{&ClockStats::set_back_ns,
            {"set_back_s", 1'000'000'000},
            {.family = "sluice_clock_set_back_seconds_total",
             .help = "By how much it was set back in all.",
             .divisor = 1'000'000'000}},
    StatRow{&ClockStats::set_ahead,
            {"set_ahead"},
            {"sluice_clock_set_ahead_total", "Times that the wall clock was set ahead."}},
    StatRow{&ClockStats::instants_left_ns,
            {"instants_left_s", 1'000'000'000},
            {.family = "sluice_clock_instants_left_seconds",
             .help = "For how long this dataplane's tables are good for the longest limits.",
             .divisor = 1'000'000'000}},
};

}  // namespace sluice
