#pragma once
#include "lib/l7/http1/ambiguity.hpp"

#include <cstdint>

namespace sluice {

// The outcome of a request with doubts at an enforced service.
enum class DoubtOutcome : std::uint8_t {
    Judged,   // `on_ambiguous: both` judges all of its readings
    Refused,  // under every `on_ambiguous`
    Passed,   // under every `on_ambiguous`: no rule reads requests
};

// Why requests are refused for what they are, or would be at a service that enforces: what is
// ambiguous or malformed in any of them. For people; nothing is decided by it.
struct RequestDoubts {
    HeadShapes shapes;
    bool has_refused = false;        // one of them is refused under every `on_ambiguous`
    bool has_passed = false;         // one of them passes under every `on_ambiguous`
    bool too_many_readings = false;  // one of them has more than are judged

    void add(HeadShapes found, DoubtOutcome outcome) noexcept {
        shapes.add(found);
        has_refused |= outcome == DoubtOutcome::Refused;
        has_passed |= outcome == DoubtOutcome::Passed;
    }
    void add(const RequestDoubts& others) noexcept {
        shapes.add(others.shapes);
        has_refused |= others.has_refused;
        has_passed |= others.has_passed;
        too_many_readings |= others.too_many_readings;
    }
    [[nodiscard]] bool any() const noexcept { return !shapes.empty() || too_many_readings; }
    // The worst of any.
    [[nodiscard]] DoubtOutcome outcome() const noexcept {
        return has_refused || too_many_readings ? DoubtOutcome::Refused
               : has_passed                     ? DoubtOutcome::Passed
                                                : DoubtOutcome::Judged;
    }
};

}  // namespace sluice
