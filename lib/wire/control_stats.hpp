#pragma once
#include "lib/base/stat_row.hpp"

#include <cstdint>

namespace sluice {

// Refusals of the control socket, and rules that could not be kept.
struct ControlStats {
    std::uint64_t strangers = 0;  // clients that may not use it
    std::uint64_t full = 0;       // that found no place
    std::uint64_t idle = 0;       // that were closed since they said nothing
    std::uint64_t uploads = 0;    // messages for which all uploads together left no room
    std::uint64_t memory = 0;     // rule sets for which there was no memory
    std::uint64_t unsealed = 0;   // rule sets whose databases nobody has vouched for
    std::uint64_t unkept = 0;     // that run, and could not be kept for the next start

    static void fields(auto& archive, auto& m) { serialize_rows(archive, m); }
};

// A refusal of the control socket, by its reason.
[[nodiscard]] constexpr StatMetric control_refusal(std::string_view reason) {
    return {.family = "sluice_control_refused_total",
            .help =
                "What the dataplane's control socket refused: clients that may not use it "
                "(stranger), found no place (full) or were silent for long (idle), messages "
                "beyond what may come in at once (uploads), rule sets for which there was no "
                "memory (memory), or whose patterns carry no sum of the box's key (unsealed).",
            .label = "reason",
            .value = reason};
}

template <>
inline constexpr auto kStatRows<ControlStats> = std::tuple{
    StatRow{&ControlStats::strangers, {}, control_refusal("stranger")},
    StatRow{&ControlStats::full, {}, control_refusal("full")},
    StatRow{&ControlStats::idle, {}, control_refusal("idle")},
    StatRow{&ControlStats::uploads, {}, control_refusal("uploads")},
    StatRow{&ControlStats::memory, {}, control_refusal("memory")},
    StatRow{&ControlStats::unsealed, {}, control_refusal("unsealed")},
    StatRow{&ControlStats::unkept,
            {},
            {"sluice_rules_unkept_total",
             "Rule sets in force that could not be kept for the next start."}},
};

}  // namespace sluice
