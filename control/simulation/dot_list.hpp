#pragma once
#include "control/simulation/engine.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sluice {

inline constexpr std::size_t kMostDots = 2000;

// Units that came at one instant and met one fate.
struct Dot {
    Instant at{};
    Instant passes{};  // the last of them
    std::uint64_t units = 0;
    Fate fate = Fate::Admitted;
    [[nodiscard]] bool operator==(const Dot&) const noexcept = default;
};

// The arrivals of a run for a drawing: each by itself as long as few came, else those of one step
// of time together. No unit is left out, and the list stays below kMostDots.
class DotList {
public:
    // In order of `arrived`.
    void add(const Decided& decision);

    [[nodiscard]] const std::vector<Dot>& dots() const noexcept { return dots_; }
    // Instants are multiples of it.
    [[nodiscard]] Nanoseconds step() const noexcept { return step_; }

private:
    void join(const Dot& dot);
    void coarsen();

    std::vector<Dot> dots_;
    Nanoseconds step_{1};
};

}  // namespace sluice
