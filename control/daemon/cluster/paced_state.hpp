#pragma once
#include <chrono>
#include <optional>

namespace sluice {

// A state as it was told last. One that changes to and fro is told of once in a while, and then as
// it is.
template <typename State>
class PacedState {
public:
    using Clock = std::chrono::steady_clock;
    static constexpr std::chrono::seconds kGap{2};

    // The state with which all begins, of which there is nothing to tell.
    explicit PacedState(State first) : told_{first} {}

    // True if it is to be told now.
    [[nodiscard]] bool turns(State state, Clock::time_point now) {
        if (state == told_ || (told_at_ && now - *told_at_ < kGap)) {
            return false;
        }
        told_ = state;
        told_at_ = now;
        return true;
    }

private:
    State told_;
    std::optional<Clock::time_point> told_at_{};
};

}  // namespace sluice
