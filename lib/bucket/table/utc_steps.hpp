#pragma once
#include "lib/base/now.hpp"

#include <algorithm>
#include <optional>

namespace sluice {

// At which instant UTC reached a time, although UTC may be set: a clock that was set ahead by a day
// did not reach the times in between a day ago. Known as far back as its last step.
//
//   UTC       ---before---|            |---now---
//   instants  ------------|------------------------>
//                     stepped_at: when it reached whatever lies between
class UtcSteps {
public:
    // To be called once a burst. What UTC is slewed by meanwhile is no step.
    void note(Now now) noexcept {
        if (ahead_ && (now.utc_ahead - *ahead_ > kSlewed || *ahead_ - now.utc_ahead > kSlewed))
            [[unlikely]] {
            before_ = ahead_;
            stepped_at_ = now.at;
        }
        ahead_ = now.utc_ahead;
    }

    // `utc` is not after that of `now`.
    [[nodiscard]] Instant reached(Nanoseconds utc, Now now) const noexcept {
        UtcSteps seen = *this;
        seen.note(now);
        const Instant since = Instant{utc - now.utc_ahead};
        if (!seen.before_) {
            return since;
        }
        const Instant earlier{utc - *seen.before_};
        return earlier <= seen.stepped_at_ ? earlier : std::max(since, seen.stepped_at_);
    }

private:
    static constexpr Nanoseconds kSlewed = std::chrono::seconds{1};

    std::optional<Nanoseconds> ahead_;   // of the last burst
    std::optional<Nanoseconds> before_;  // the last step; nullopt: none was seen
    Instant stepped_at_{};
};

}  // namespace sluice
