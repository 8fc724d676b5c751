#include "control/daemon/notify/delivery_queue.hpp"

#include <algorithm>
#include <utility>

namespace sluice {

void DeliveryQueue::push(Waiting notice) {
    make_room(notice.once);
    if (!notice.once) {
        notices_.push_back(std::move(notice));
        return;
    }
    const auto behind = std::find_if(notices_.begin() + (under_way_ ? 1 : 0), notices_.end(),
                                     [](const Waiting& one) { return !one.once; });
    (void)notices_.insert(behind, std::move(notice));
}

void DeliveryQueue::make_room(bool once) {
    const auto is_alike = [&](const Waiting& one) { return one.once == once; };
    const auto most = static_cast<std::ptrdiff_t>(once ? kMostOnce : kMost);
    if (std::count_if(notices_.begin(), notices_.end(), is_alike) < most) {
        return;
    }
    const auto waiting = notices_.begin() + (under_way_ ? 1 : 0);
    const auto oldest = std::find_if(waiting, notices_.end(), is_alike);
    if (oldest != notices_.end()) {
        (void)notices_.erase(oldest);
        ++counts_.dropped;
    }
}

const DeliveryQueue::Waiting* DeliveryQueue::begin(Clock::time_point now) noexcept {
    if (under_way_ || notices_.empty() || notices_.front().due > now) {
        return nullptr;
    }
    under_way_ = true;
    Waiting& first = notices_.front();
    counts_.retried += first.attempts == 0 ? 0 : 1;
    ++first.attempts;
    return &first;
}

void DeliveryQueue::end(Outcome outcome, Clock::time_point now) {
    if (!under_way_) {
        return;
    }
    under_way_ = false;
    Waiting& first = notices_.front();
    if (outcome == Outcome::TryAgain && !first.once && first.attempts < kMostAttempts) {
        const std::chrono::seconds gap = kFirstGap * (1U << (first.attempts - 1));
        first.due = now + std::min(gap, kLongestGap);
        return;
    }
    ++(outcome == Outcome::Sent ? counts_.sent : counts_.failed);
    notices_.pop_front();
}

std::optional<DeliveryQueue::Clock::time_point> DeliveryQueue::due() const noexcept {
    return under_way_ || notices_.empty() ? std::nullopt : std::optional{notices_.front().due};
}

}  // namespace sluice
