#pragma once
#include <chrono>

namespace sluice {

// So many at once, and one more each `every`. For one thread at a time.
struct Pace {
    using Clock = std::chrono::steady_clock;

    unsigned at_once;
    Clock::duration every;
    unsigned spent = 0;
    Clock::time_point counted_to{};

    // False: it is too soon. `now` never goes back.
    [[nodiscard]] bool take(Clock::time_point now);
    // True if as many are had at once as ever.
    [[nodiscard]] bool is_fresh(Clock::time_point now) const;
};

}  // namespace sluice
