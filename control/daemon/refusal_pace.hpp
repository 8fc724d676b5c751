#pragma once
#include "control/daemon/pace.hpp"

#include <chrono>
#include <mutex>

namespace sluice {

// How many refusals are answered, and how many of those are recorded. All others are only counted.
class RefusalPace {
public:
    using Clock = Pace::Clock;
    static constexpr unsigned kAnsweredAtOnce = 20;
    static constexpr std::chrono::milliseconds kAnsweredEvery{200};
    // So few that strangers push nothing out of the audit.
    static constexpr unsigned kRecordedAtOnce = 5;
    static constexpr std::chrono::minutes kRecordedEvery{10};

    // True if this refusal is one of those that are answered.
    [[nodiscard]] bool answers(Clock::time_point now) {
        const std::lock_guard lock{mutex_};
        return answered_.take(now);
    }
    // And of those, one that is recorded.
    [[nodiscard]] bool records(Clock::time_point now) {
        const std::lock_guard lock{mutex_};
        return recorded_.take(now);
    }

private:
    std::mutex mutex_;
    Pace answered_{kAnsweredAtOnce, kAnsweredEvery};
    Pace recorded_{kRecordedAtOnce, kRecordedEvery};
};

}  // namespace sluice
