#pragma once
#include <array>
#include <cstdint>
#include <string_view>

namespace sluice {

// The packets that a worker holds until their departures, now, and the most that it may hold.
struct ShapeStats {
    std::uint64_t held = 0;
    std::uint64_t room = 0;

    static void fields(auto& archive, auto& m) { archive(m.held, m.room); }
};

struct ShapeGaugeRow {
    std::uint64_t ShapeStats::* count;
    std::string_view name;
    std::string_view help;
};

// The one list of what there is now, as the API, the CLI and the metrics show it.
inline constexpr auto kShapeGauges = std::to_array<ShapeGaugeRow>({
    {&ShapeStats::held, "held_packets", "Packets that are held until their departures."},
    {&ShapeStats::room, "held_room", "The most buffers of packets that may be held."},
});

}  // namespace sluice
