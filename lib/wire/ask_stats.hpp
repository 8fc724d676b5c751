#pragma once
#include "lib/ask/ask_event.hpp"

#include <array>
#include <cstdint>
#include <string_view>

namespace sluice {

// What a worker has asked owners of keys, and answered as one.
struct AskStats {
    std::array<std::uint64_t, kAskEventCount> by_event{};
    // Now:
    std::uint64_t waiting = 0;
    std::uint64_t reservations = 0;

    static void fields(auto& archive, auto& m) { archive(m.by_event, m.waiting, m.reservations); }
};

struct AskGaugeRow {
    std::uint64_t AskStats::* count;
    std::string_view name;
    std::string_view help;
};

// The one list of what there is now, as the API, the CLI and the metrics show it.
inline constexpr auto kAskGauges = std::to_array<AskGaugeRow>({
    {&AskStats::waiting, "waiting_packets", "Packets that wait for owners of their keys."},
    {&AskStats::reservations, "reservations",
     "What owners of keys have promised and nobody has settled yet."},
});

}  // namespace sluice
