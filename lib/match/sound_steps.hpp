#pragma once
#include "lib/match/step.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace sluice {

// Bounds of steps that came from another process.
struct StepBounds {
    unsigned width = 0;    // bits of a key
    std::size_t most = 0;  // steps
    std::size_t rows = 0;  // that there are
};

// Steps are sound from key 0 on, in order, no two alike, within their bounds.
template <typename Key>
[[nodiscard]] bool are_sound(const std::vector<Step<Key>>& steps, const StepBounds& bounds) {
    if (steps.empty() || steps.front().first != 0 || steps.size() > bounds.most) {
        return false;
    }
    const bool fits = bounds.width == 8 * sizeof(Key) || (steps.back().first >> bounds.width) == 0;
    const bool sorted =
        std::adjacent_find(steps.begin(), steps.end(), [](const auto& a, const auto& b) {
            return a.first >= b.first;
        }) == steps.end();
    return fits && sorted && std::all_of(steps.begin(), steps.end(), [&](const auto& step) {
               return step.row < bounds.rows;
           });
}

}  // namespace sluice
