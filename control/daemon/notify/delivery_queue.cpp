#include "control/daemon/notify/delivery_queue.hpp"

#include <algorithm>
#include <utility>

namespace sluice {

void DeliveryQueue::push(Waiting notice) {
    const auto oldest = notices_.begin() + (under_way_ ? 1 : 0);
    if (notices_.size() == kMost) {
        (void)notices_.erase(oldest);
        ++counts_.dropped;
    }
    const auto first = notices_.begin() + (under_way_ ? 1 : 0);
    (void)notices_.insert(notice.once ? first : notices_.end(), std::move(notice));
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
