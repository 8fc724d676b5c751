#pragma once
#include <cstddef>

namespace sluice::pktgen {

// How long frames of one queue wait for a whole burst while other queues have theirs. Frames hold
// their time since they were made, so what they wait here is in their delays.
class BurstWait {
public:
    // A queue with an even share of the frames has its burst within two turns. One of few sources
    // waits for a few turns of some microseconds, which is less than what counts as a pause.
    static constexpr unsigned kMostTurns = 4;

    // Asked once each turn: whether the queue's frames are offered in it.
    [[nodiscard]] bool is_over(std::size_t frames, std::size_t burst,
                               bool others_are_whole) noexcept {
        const bool is_over = frames == burst || !others_are_whole || turns_ == kMostTurns;
        turns_ = frames == 0 || is_over ? 0 : turns_ + 1;
        return is_over;
    }

private:
    unsigned turns_ = 0;  // in which there were frames that stayed
};

}  // namespace sluice::pktgen
