#include "control/daemon/fair_turns.hpp"

#include <algorithm>
#include <utility>

namespace sluice {

FairTurns::Turn::Turn(Turn&& other) noexcept : owner_{std::exchange(other.owner_, nullptr)} {}

FairTurns::Turn::~Turn() {
    if (owner_ != nullptr) {
        owner_->leave();
    }
}

FairTurns::Waiting* FairTurns::waiting_of(const std::string& asker) {
    const auto found = std::ranges::find(queue_, asker, &Waiting::asker);
    return found == queue_.end() ? nullptr : &*found;
}

std::variant<FairTurns::Turn, FairTurns::Refused> FairTurns::enter(const std::string& asker) {
    std::unique_lock lock{mutex_};
    const std::uint64_t mine = ++callers_;
    if (Waiting* const own = waiting_of(asker)) {
        own->caller = mine;
        changed_.notify_all();
    } else if (queue_.size() < kMostWaiting) {
        queue_.push_back({asker, mine});
    } else {
        return Refused::Crowded;
    }
    const auto is_superseded = [&] {
        const Waiting* const own = waiting_of(asker);
        return own == nullptr || own->caller != mine;
    };
    changed_.wait(lock,
                  [&] { return is_superseded() || (!taken_ && queue_.front().caller == mine); });
    if (is_superseded()) {
        return Refused::Superseded;
    }
    queue_.pop_front();
    taken_ = true;
    return Turn{*this};
}

std::size_t FairTurns::waiting() const {
    const std::lock_guard lock{mutex_};
    return queue_.size();
}

void FairTurns::leave() {
    const std::lock_guard lock{mutex_};
    taken_ = false;
    changed_.notify_all();
}

}  // namespace sluice
