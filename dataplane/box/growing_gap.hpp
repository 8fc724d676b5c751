#pragma once
#include <algorithm>
#include <chrono>

namespace sluice {

// The distance between two rows about something that goes on: a second at first, and twice as long
// with each row, up to a minute, so that the rows of one long change do not push all others out of
// a log. A look that finds nothing new makes it a second again.
class GrowingGap {
public:
    using Time = std::chrono::steady_clock::time_point;

    static constexpr std::chrono::seconds kLeast{1};
    static constexpr std::chrono::seconds kMost{60};

    [[nodiscard]] bool is_due(Time now) const noexcept { return now - looked_ >= gap_; }
    // A look that was due: it goes on, or there is nothing new.
    void note_look(Time now, bool goes_on) noexcept {
        looked_ = now;
        gap_ = goes_on ? std::min(2 * gap_, kMost) : kLeast;
    }

private:
    Time looked_{};
    std::chrono::seconds gap_{kLeast};
};

}  // namespace sluice
