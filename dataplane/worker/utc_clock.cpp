#include "dataplane/worker/utc_clock.hpp"

#include "dataplane/read_clock.hpp"
#include "lib/base/log.hpp"

#include <algorithm>
#include <string>

namespace sluice {
namespace {

constexpr Nanoseconds kLeastStep = std::chrono::milliseconds{1};
constexpr Nanoseconds kSaidStep = std::chrono::milliseconds{100};
// Until when instants are good for every limit that can be.
constexpr Instant kGoodUntil = kEndOfInstants - kLongestDebt;

std::string seconds_of(Nanoseconds time) {
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
    const std::string fraction = std::to_string(1000 + ms % 1000).substr(1);
    return std::to_string(ms / 1000) + "." + fraction + " s";
}

}  // namespace

// The quickest of a few readings, since this thread may be set aside between two clocks.
UtcClock::Reading UtcClock::read(Nanoseconds clock_lead) noexcept {
    Reading best;
    Nanoseconds least = Nanoseconds::max();
    for (int i = 0; i < 3; ++i) {
        const Nanoseconds before = read_clock(CLOCK_BOOTTIME);
        const Nanoseconds utc = read_clock(CLOCK_REALTIME);
        const Nanoseconds after = read_clock(CLOCK_BOOTTIME);
        if (after - before < least) {
            least = after - before;
            const Nanoseconds at = before + least / 2 + clock_lead;
            best = {Instant{at}, utc - at};
        }
    }
    return best;
}

void UtcClock::note(const Reading& reading) {
    at_ = reading.at;
    if (at_ > kGoodUntil && !ended_) {
        ended_ = true;
        log_error(
            "these tables are older than their instants are good for: the longest limits may "
            "admit too much; restart the dataplane, which begins new ones");
    }
    const Nanoseconds step = reading.utc_ahead - known_.utc_ahead;
    const Nanoseconds size = step < Nanoseconds{0} ? -step : step;
    if (size < kLeastStep) {
        return;
    }
    known_.utc_ahead = reading.utc_ahead;
    if (step < Nanoseconds{0}) {
        known_.set_back += size;
        ++stats_.set_back;
        stats_.set_back_ns += static_cast<std::uint64_t>(size.count());
    } else {
        ++stats_.set_ahead;
    }
    time_of_day_.set(known_);
    if (size >= kSaidStep) {
        log_info("the wall clock was set " + std::string{step < Nanoseconds{0} ? "back" : "ahead"} +
                 " by " + seconds_of(size) + "; windows of `phase: clock` follow it, " +
                 (step < Nanoseconds{0} ? "each after less than a window more" : "at once"));
    }
}

ClockStats UtcClock::stats() const noexcept {
    ClockStats stats = stats_;
    stats.instants_left_ns =
        static_cast<std::uint64_t>(std::max(kGoodUntil - at_, Nanoseconds{0}).count());
    return stats;
}

}  // namespace sluice
