#include "control/daemon/newest_next.hpp"

#include <utility>

namespace sluice {

NewestNext::Turn::Turn(Turn&& other) noexcept : owner_{std::exchange(other.owner_, nullptr)} {}

NewestNext::Turn::~Turn() {
    if (owner_ != nullptr) {
        owner_->leave();
    }
}

std::optional<NewestNext::Turn> NewestNext::enter() {
    std::unique_lock lock{mutex_};
    const std::uint64_t mine = ++newest_;
    waiting_ = taken_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return !taken_ || newest_ != mine; });
    if (newest_ != mine) {
        return std::nullopt;
    }
    taken_ = true;
    waiting_ = false;
    return Turn{*this};
}

bool NewestNext::has_waiting() const {
    const std::lock_guard lock{mutex_};
    return waiting_;
}

void NewestNext::leave() {
    const std::lock_guard lock{mutex_};
    taken_ = false;
    changed_.notify_all();
}

}  // namespace sluice
