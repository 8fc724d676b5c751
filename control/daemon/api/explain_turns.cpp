#include "control/daemon/api/explain_turns.hpp"

namespace sluice {

ExplainTurns::Turn ExplainTurns::take() {
    std::unique_lock lock{mutex_};
    if (inside_ == places_) {
        return nullptr;
    }
    ++inside_;
    if (!given_back_.wait_for(lock, patience_, [this] { return !is_taken_; })) {
        --inside_;
        return nullptr;
    }
    is_taken_ = true;
    return Turn{this};
}

std::size_t ExplainTurns::inside() const {
    const std::lock_guard lock{mutex_};
    return inside_;
}

void ExplainTurns::give_back() noexcept {
    {
        const std::lock_guard lock{mutex_};
        --inside_;
        is_taken_ = false;
    }
    given_back_.notify_one();
}

}  // namespace sluice
