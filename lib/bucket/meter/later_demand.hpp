#pragma once
#include "lib/bucket/meter/any_meter.hpp"

#include <optional>

// Several units of one packet are asked of their buckets one after the other, and charged together
// once all have been: each is checked as if the earlier ones had been charged already.
namespace sluice {

// Charges that a bucket is about to get at this very instant: check() has admitted all of them.
struct ChargedBefore {
    Units green;
    Units yellow;  // of colour meters

    [[nodiscard]] Units all() const noexcept { return green + yellow; }
};

struct LaterDemand {
    Demand demand;
    ChargedBefore before;
};

// The answer of check() to the demand if what comes before it had been charged; and the least time
// after which both would be admitted at once, of colour meters the demand after what comes before.
[[nodiscard]] Conformance check_later(Cell& cell, const AnyLimit& limit, LinePool& pool, Now now,
                                      const LaterDemand& later) noexcept;
[[nodiscard]] std::optional<Nanoseconds> wait_later(const Cell& cell, const AnyLimit& limit,
                                                    const LinePool& pool, Now now,
                                                    const LaterDemand& later) noexcept;

}  // namespace sluice
