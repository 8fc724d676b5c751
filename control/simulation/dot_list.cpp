#include "control/simulation/dot_list.hpp"

#include <algorithm>
#include <utility>

namespace sluice {

void DotList::add(const Decided& decision) {
    join({decision.arrived, decision.passes, decision.units, decision.fate});
    while (dots_.size() > kMostDots) {
        coarsen();
    }
}

void DotList::join(const Dot& dot) {
    const Instant at{dot.at.time_since_epoch() / step_ * step_};
    // Dots of one instant are the last ones, one of each fate.
    for (auto last = dots_.rbegin(); last != dots_.rend() && last->at == at; ++last) {
        if (last->fate == dot.fate) {
            last->units += dot.units;
            last->passes = std::max(last->passes, dot.passes);
            return;
        }
    }
    dots_.push_back({at, dot.passes, dot.units, dot.fate});
}

void DotList::coarsen() {
    constexpr Nanoseconds kLeastStep = std::chrono::microseconds{1};
    step_ = std::max(2 * step_, kLeastStep);
    const std::vector<Dot> fine = std::exchange(dots_, {});
    for (const Dot& dot : fine) {
        join(dot);
    }
}

}  // namespace sluice
