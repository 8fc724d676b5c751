#include "control/simulation/run_record.hpp"

#include <algorithm>
#include <utility>

namespace sluice {

RunRecord::RunRecord(const AnyLimit& limit, const Course& course, Nanoseconds first_step,
                     std::function<bool()> goes_on)
    : goes_on_{std::move(goes_on)}, state_{first_step} {
    if (const auto* const days = std::get_if<DayWindowLimit>(&limit)) {
        days_.emplace(*days, course.start);
    }
}

void RunRecord::before(Instant at, const LeftAt& left) {
    state_.fill(at, left);
    end_ = std::max(end_, at);
}

void RunRecord::decided(const Decided& decision, Instant asked, std::uint64_t left) {
    dots_.add(decision);
    if (decision.fate == Fate::Waiting) {
        return;
    }
    state_.note(asked, left);
    delayed_ += decision.fate == Fate::Delayed ? decision.units : 0;
    if (days_) {
        days_->add(asked, decision.units, decision.fate != Fate::Refused);
    }
}

bool RunRecord::goes_on() {
    constexpr std::uint64_t kAskEvery = 64;
    return asked_++ % kAskEvery != 0 || goes_on_();
}

}  // namespace sluice
