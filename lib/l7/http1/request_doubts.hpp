#pragma once
#include "lib/l7/http1/ambiguity.hpp"

namespace sluice {

// Why requests are refused for what they are, or would be at a service that enforces: what is
// ambiguous or malformed in any of them. For people; nothing is decided by it.
struct RequestDoubts {
    HeadShapes shapes;
    bool has_unstated = false;       // one of them is refused under every `on_ambiguous`
    bool too_many_readings = false;  // one of them has more than are judged

    void add(HeadShapes found, bool is_stated) noexcept {
        shapes.add(found);
        has_unstated |= !is_stated;
    }
    [[nodiscard]] bool any() const noexcept { return !shapes.empty() || too_many_readings; }
    // `on_ambiguous: both` judges all of them, each as all of its readings.
    [[nodiscard]] bool judged_by_both() const noexcept {
        return !has_unstated && !too_many_readings;
    }
};

}  // namespace sluice
