#pragma once
#include "lib/l7/stream/connection_event.hpp"
#include "lib/l7/stream/track/track_reason.hpp"
#include "lib/peer/reserve/ask_event.hpp"
#include "lib/rules/stage.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

// What a worker tells of each of its parts.
namespace sluice {

// Of what there is now: tables of these are the one list that API, CLI and metrics show it by.
template <typename Stats>
struct GaugeRow {
    std::uint64_t Stats::* count;
    std::string_view name;
    std::string_view help;
};

// Where a worker's time went, of one of its turns in kTurnsPerSample.
struct StageStats {
    std::array<std::uint64_t, kStageCount> cycles{};  // of the time-stamp counter
    std::uint64_t packets = 0;                        // of those turns
    std::uint64_t turns = 0;
    std::uint64_t cycles_per_second = 0;

    static void fields(auto& archive, auto& m) {
        archive(m.cycles, m.packets, m.turns, m.cycles_per_second);
    }
};

inline constexpr std::size_t kConnectionEventCount = kConnectionEvents.size();
inline constexpr std::size_t kTrackEventCount = kTrackEvents.size();

// What a worker remembers of connections between their packets, and what happened to them.
struct ConnectionStats {
    std::array<std::uint64_t, kConnectionEventCount> by_event{};
    std::array<std::uint64_t, kUnreadKinds> unread{};  // by unread_kind()
    // Now:
    std::uint64_t connections = 0;
    std::uint64_t half_heads = 0;
    std::uint64_t held_lines = 0;
    std::uint64_t refused = 0;
    std::uint64_t given_up = 0;
    std::uint64_t quic_hellos = 0;
    std::uint64_t quic_half_hellos = 0;

    static void fields(auto& archive, auto& m) {
        archive(m.by_event, m.unread, m.connections, m.half_heads, m.held_lines, m.refused,
                m.given_up, m.quic_hellos, m.quic_half_hellos);
    }
};

inline constexpr auto kConnectionGauges = std::to_array<GaugeRow<ConnectionStats>>({
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

// What a worker has asked owners of keys, and answered as one.
struct AskStats {
    std::array<std::uint64_t, kAskEventCount> by_event{};
    // Now:
    std::uint64_t waiting = 0;
    std::uint64_t reservations = 0;

    static void fields(auto& archive, auto& m) { archive(m.by_event, m.waiting, m.reservations); }
};

inline constexpr auto kAskGauges = std::to_array<GaugeRow<AskStats>>({
    {&AskStats::waiting, "waiting_packets", "Packets that wait for owners of their keys."},
    {&AskStats::reservations, "reservations",
     "What owners of keys have promised and nobody has settled yet."},
});

// The packets that a worker holds until their departures, now, and the most that it may hold.
struct ShapeStats {
    std::uint64_t held = 0;
    std::uint64_t room = 0;

    static void fields(auto& archive, auto& m) { archive(m.held, m.room); }
};

inline constexpr auto kShapeGauges = std::to_array<GaugeRow<ShapeStats>>({
    {&ShapeStats::held, "held_packets", "Packets that are held until their departures."},
    {&ShapeStats::room, "held_room", "The most buffers of packets that may be held."},
});

}  // namespace sluice
