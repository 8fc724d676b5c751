#include "control/daemon/places.hpp"

namespace sluice {

bool Places::take(RequestClass kind, uid_t user) {
    const auto index = static_cast<std::size_t>(kind);
    const std::lock_guard lock{mutex_};
    const auto found = by_user_.find({kind, user});
    const std::size_t of_user = found == by_user_.end() ? 0 : found->second;
    if (taken_[index] >= kBounds[index].all || of_user >= kBounds[index].of_user) {
        return false;
    }
    ++taken_[index];
    ++by_user_[{kind, user}];
    return true;
}

void Places::give_back(RequestClass kind, uid_t user) {
    const std::lock_guard lock{mutex_};
    --taken_[static_cast<std::size_t>(kind)];
    const auto found = by_user_.find({kind, user});
    if (--found->second == 0) {
        by_user_.erase(found);
    }
}

bool Places::is_crowded(RequestClass kind, uid_t user) {
    const auto index = static_cast<std::size_t>(kind);
    const std::lock_guard lock{mutex_};
    const auto found = by_user_.find({kind, user});
    const std::size_t of_user = found == by_user_.end() ? 0 : found->second;
    return 2 * taken_[index] > kBounds[index].all || 2 * of_user > kBounds[index].of_user;
}

}  // namespace sluice
