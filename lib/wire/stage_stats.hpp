#pragma once
#include "lib/rules/stage.hpp"

#include <array>
#include <cstdint>

namespace sluice {

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

}  // namespace sluice
