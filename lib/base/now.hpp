#pragma once
#include "lib/base/units.hpp"

namespace sluice {

// What time it is, as a worker passes it down once per burst: the instant, which every algorithm
// uses, and how far UTC is ahead of it, which windows aligned to the wall clock need. Whoever reads
// the clocks sees to it that neither `at` nor `utc()` ever goes back.
struct Now {
    Instant at{};
    Nanoseconds utc_ahead{};

    // Since 1970-01-01T00:00:00Z.
    [[nodiscard]] constexpr Nanoseconds utc() const noexcept {
        return at.time_since_epoch() + utc_ahead;
    }
};

}  // namespace sluice
