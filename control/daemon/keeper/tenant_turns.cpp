#include "control/daemon/keeper/tenant_turns.hpp"

#include <thread>

namespace sluice {

TenantTurns::Turn::~Turn() {
    if (turns_ != nullptr) {
        const Clock::time_point now = Clock::now();
        turns_->ready_at_ = now + kPause * (now - begun_);
        turns_->taken_.unlock();
    }
}

std::optional<TenantTurns::Turn> TenantTurns::enter() {
    const Clock::time_point until = Clock::now() + kMostWait;
    if (!taken_.try_lock_until(until)) {
        return std::nullopt;
    }
    if (ready_at_ > until) {
        taken_.unlock();
        return std::nullopt;
    }
    std::this_thread::sleep_until(ready_at_);
    return Turn{*this};
}

}  // namespace sluice
