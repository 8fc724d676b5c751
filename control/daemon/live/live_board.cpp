#include "control/daemon/live/live_board.hpp"

#include <utility>

namespace sluice {

LiveBoard::Shown LiveBoard::wait(std::uint64_t after, std::chrono::milliseconds patience) {
    std::unique_lock lock{mutex_};
    asked_until_ = Clock::now() + kAskedFor;
    changed_.notify_all();
    const auto is_there = [&] {
        const std::uint64_t number = shown_number();
        return stopped_ || (number != 0 && (number > after || after > number + 1));
    };
    ++stats_.clients;
    (void)changed_.wait_for(lock, patience, is_there);
    --stats_.clients;
    return shown_number() == 0 ? nullptr : newest_;
}

LiveBoard::Series LiveBoard::series(const std::string& rule, std::int64_t seconds,
                                    std::chrono::milliseconds patience) {
    (void)wait(0, patience);
    const std::lock_guard lock{mutex_};
    if (shown_number() == 0) {
        return {};
    }
    const LiveSnapshot& snapshot = newest_->snapshot();
    return {newest_, rule.empty() ? history_.totals(snapshot.second, seconds)
                                  : history_.of_rule(snapshot, rule, seconds)};
}

LiveStats LiveBoard::stats() const {
    const std::lock_guard lock{mutex_};
    return stats_;
}

void LiveBoard::stop() {
    const std::lock_guard lock{mutex_};
    stopped_ = true;
    changed_.notify_all();
}

bool LiveBoard::sleep_until_wanted(const std::stop_token& stop) {
    std::unique_lock lock{mutex_};
    if (is_wanted()) {
        return false;
    }
    stale_ = newest_ == nullptr ? 0 : newest_->snapshot().number;
    (void)changed_.wait(lock, stop, [this] { return is_wanted(); });
    return true;
}

void LiveBoard::sleep_until(Clock::time_point then, const std::stop_token& stop) {
    std::unique_lock lock{mutex_};
    (void)changed_.wait_until(lock, stop, then, [] { return false; });
}

LiveBoard::Shown LiveBoard::newest() const {
    const std::lock_guard lock{mutex_};
    return newest_;
}

void LiveBoard::publish(LiveSnapshot snapshot) {
    auto shown = std::make_shared<const LiveViews>(std::move(snapshot), origin_);
    Shown former;  // freed without the lock
    const std::lock_guard lock{mutex_};
    history_.put(shown->snapshot());
    former = std::exchange(newest_, std::move(shown));
    ++stats_.snapshots;
    changed_.notify_all();
}

void LiveBoard::count_late(std::uint64_t seconds) {
    const std::lock_guard lock{mutex_};
    stats_.late += seconds;
}

}  // namespace sluice
