#include "control/daemon/fair_turns.hpp"

#include <algorithm>
#include <utility>

namespace sluice {

FairTurns::Turn::Turn(Turn&& other) noexcept
    : owner_{std::exchange(other.owner_, nullptr)}, begun_{other.begun_} {}

FairTurns::Turn::~Turn() {
    if (owner_ != nullptr) {
        owner_->leave(begun_);
    }
}

FairTurns::Waiting* FairTurns::waiting_of(const std::string& asker) {
    const auto found = std::ranges::find(queue_, asker, &Waiting::asker);
    return found == queue_.end() ? nullptr : &*found;
}

bool FairTurns::is_superseded(const std::string& asker, std::uint64_t caller) {
    const Waiting* const own = waiting_of(asker);
    return own == nullptr || own->caller != caller;
}

// The caller takes its asker's place in the queue, or a new one at its end. False: there is none.
bool FairTurns::queue_up(const Asker& asker, std::uint64_t caller) {
    if (Waiting* const own = waiting_of(asker.name)) {
        if (terms_.another != Another::Supersedes) {
            return false;
        }
        own->caller = caller;
        changed_.notify_all();
        return true;
    }
    if (queue_.size() >= terms_.most_waiting) {
        return false;
    }
    queue_.push_back({asker.name, caller, asker.skips_pause});
    return true;
}

// False: another call of the asker's was before it as long as the patience lasted.
bool FairTurns::wait_for_own(std::unique_lock<std::mutex>& lock, const std::string& asker,
                             Clock::time_point until) {
    return changed_.wait_until(
        lock, until, [&] { return waiting_of(asker) == nullptr && !(taken_ && inside_ == asker); });
}

// Without a pause the first of the queue is next; in one, the first that waits for none.
bool FairTurns::is_next(std::uint64_t caller) const {
    if (taken_) {
        return false;
    }
    const bool is_pause = Clock::now() < pause_ends_;
    const auto next = std::ranges::find_if(
        queue_, [&](const Waiting& waiting) { return !is_pause || waiting.skips_pause; });
    return next != queue_.end() && next->caller == caller;
}

std::variant<FairTurns::Turn, FairTurns::Refused> FairTurns::enter(const Asker& asker) {
    std::unique_lock lock{mutex_};
    const Clock::time_point until = Clock::now() + terms_.patience;
    if (terms_.another == Another::Waits && !wait_for_own(lock, asker.name, until)) {
        return Refused::TooLong;
    }
    const std::uint64_t mine = ++callers_;
    if (!queue_up(asker, mine)) {
        return Refused::Crowded;
    }
    const auto is_over = [&] { return is_superseded(asker.name, mine) || is_next(mine); };
    while (!is_over()) {
        // The end of a pause wakes nobody.
        const bool is_pause = Clock::now() < pause_ends_;
        const Clock::time_point look = is_pause ? std::min(until, pause_ends_) : until;
        (void)changed_.wait_until(lock, look);
        if (Clock::now() >= until && !is_over()) {
            std::erase_if(queue_, [&](const Waiting& waiting) { return waiting.caller == mine; });
            changed_.notify_all();
            return Refused::TooLong;
        }
    }
    if (is_superseded(asker.name, mine)) {
        return Refused::Superseded;
    }
    std::erase_if(queue_, [&](const Waiting& waiting) { return waiting.caller == mine; });
    taken_ = true;
    inside_ = asker.name;
    changed_.notify_all();
    return Turn{*this};
}

std::size_t FairTurns::waiting() const {
    const std::lock_guard lock{mutex_};
    return queue_.size();
}

void FairTurns::leave(Clock::time_point begun) {
    const std::lock_guard lock{mutex_};
    const Clock::time_point now = Clock::now();
    taken_ = false;
    pause_ends_ = now + terms_.pause * (now - begun);
    changed_.notify_all();
}

}  // namespace sluice
