#pragma once
#include "tests/pktgen/probe.hpp"

#include <algorithm>
#include <cstdint>

namespace sluice::pktgen {

// When the loop looked at the clock, and its pauses: steps in which somebody else had the core.
// Delays of frames that were under way in one are the pause's, not the device's.
class PauseWatch {
public:
    PauseWatch(std::uint64_t begin, std::uint64_t longest_step) noexcept
        : longest_step_{longest_step}, last_{begin} {}

    // `now` never goes back.
    void look(std::uint64_t now) noexcept {
        const std::uint64_t step = now - last_;
        if (step > longest_step_) {
            ++pauses_;
            pause_began_ = last_;
        }
        longest_ = std::max(longest_, step);
        last_ = now;
    }
    // Before a look: the loop chose to sleep, and that is no pause unless it took `allowed` and the
    // longest step together.
    void rested(std::uint64_t now, std::uint64_t allowed) noexcept {
        last_ = std::min(now, last_ + allowed);
    }
    // Whether a frame of that probe's time, which arrives now, was sent before the latest pause.
    [[nodiscard]] bool met_pause(std::uint64_t sent_at) const noexcept {
        constexpr std::uint64_t kHalf = (kTickMask + 1) / 2;
        return pauses_ != 0 && ticks_since(sent_at, pause_began_) < kHalf;
    }
    [[nodiscard]] std::uint64_t longest() const noexcept { return longest_; }
    [[nodiscard]] std::uint64_t pauses() const noexcept { return pauses_; }

private:
    std::uint64_t longest_step_;
    std::uint64_t last_;
    std::uint64_t pause_began_ = 0;
    std::uint64_t longest_ = 0;
    std::uint64_t pauses_ = 0;
};

}  // namespace sluice::pktgen
