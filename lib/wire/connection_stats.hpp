#pragma once
#include "lib/conn/connection_event.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sluice {

inline constexpr std::size_t kConnectionEventCount = kConnectionEvents.size();

// What a worker remembers of connections between their packets, and what happened to them.
struct ConnectionStats {
    std::array<std::uint64_t, kConnectionEventCount> by_event{};
    // Now:
    std::uint64_t connections = 0;
    std::uint64_t half_heads = 0;
    std::uint64_t held_lines = 0;
    std::uint64_t refused = 0;
    std::uint64_t given_up = 0;
    std::uint64_t quic_hellos = 0;
    std::uint64_t quic_half_hellos = 0;

    static void fields(auto& archive, auto& m) {
        archive(m.by_event, m.connections, m.half_heads, m.held_lines, m.refused, m.given_up,
                m.quic_hellos, m.quic_half_hellos);
    }
};

struct ConnectionGaugeRow {
    std::uint64_t ConnectionStats::* count;
    std::string_view name;
    std::string_view help;
};

// The one list of what there is now, as the API, the CLI and the metrics show it.
inline constexpr auto kConnectionGauges = std::to_array<ConnectionGaugeRow>({
    {&ConnectionStats::connections, "connections", "Connections that are remembered."},
    {&ConnectionStats::half_heads, "half_heads", "Heads of requests that are not whole yet."},
    {&ConnectionStats::held_lines, "held_lines",
     "Lines of 64 bytes that hold heads which are not whole."},
    {&ConnectionStats::refused, "refused_connections", "Connections that a refusal sticks to."},
    {&ConnectionStats::given_up, "given_up_connections", "Connections whose head was given up."},
    {&ConnectionStats::quic_hellos, "quic_hellos",
     "What is remembered of hellos over QUIC: connections that were judged, half hellos and those "
     "given up."},
    {&ConnectionStats::quic_half_hellos, "quic_half_hellos",
     "Hellos over QUIC that are not whole yet."},
});

}  // namespace sluice
