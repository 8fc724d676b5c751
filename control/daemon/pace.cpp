#include "control/daemon/pace.hpp"

#include <algorithm>
#include <cstdint>

namespace sluice {

bool Pace::take(Clock::time_point now) {
    if (const auto earned = (now - counted_to) / every; earned > 0) {
        spent -= static_cast<unsigned>(std::min<std::int64_t>(earned, spent));
        counted_to = now;
    }
    if (spent == at_once) {
        return false;
    }
    ++spent;
    return true;
}

bool Pace::is_fresh(Clock::time_point now) const {
    return (now - counted_to) / every >= spent;
}

}  // namespace sluice
