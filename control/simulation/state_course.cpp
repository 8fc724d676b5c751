#include "control/simulation/state_course.hpp"

#include <algorithm>

namespace sluice {

void StateCourse::fill(Instant at, const RunWatcher::LeftAt& left) {
    for (;;) {
        const Instant next{step_ * static_cast<std::int64_t>(columns_.size())};
        if (next > at) {
            return;
        }
        if (columns_.size() == kMostStateColumns) {
            halve();
            continue;
        }
        const std::uint64_t units = left(next);
        columns_.push_back({units, units});
    }
}

void StateCourse::note(Instant at, std::uint64_t left) {
    const auto index = static_cast<std::size_t>(at.time_since_epoch() / step_);
    if (index < columns_.size()) {
        columns_[index].least = std::min(columns_[index].least, left);
    }
}

void StateCourse::halve() {
    for (std::size_t i = 0; i < columns_.size() / 2; ++i) {
        columns_[i] = {columns_[2 * i].left,
                       std::min(columns_[2 * i].least, columns_[2 * i + 1].least)};
    }
    columns_.resize(columns_.size() / 2);
    step_ *= 2;
}

}  // namespace sluice
