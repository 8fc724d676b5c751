#pragma once
#include "control/simulation/day_tally.hpp"
#include "control/simulation/dot_list.hpp"
#include "control/simulation/engine.hpp"
#include "control/simulation/state_course.hpp"

#include <cstdint>
#include <functional>
#include <optional>

namespace sluice {

// Marks to draw of a run, of bounded size whatever the run is.
class RunRecord final : public RunWatcher {
public:
    // `goes_on` is asked now and then, and `first_step` is that of the state.
    RunRecord(const AnyLimit& limit, const Course& course, Nanoseconds first_step,
              std::function<bool()> goes_on);

    void before(Instant at, const LeftAt& left) override;
    void decided(const Decided& decision, Instant asked, std::uint64_t left) override;
    [[nodiscard]] bool goes_on() override;

    [[nodiscard]] const DotList& dots() const noexcept { return dots_; }
    [[nodiscard]] const StateCourse& state() const noexcept { return state_; }
    [[nodiscard]] const std::optional<DayTally>& days() const noexcept { return days_; }
    [[nodiscard]] std::uint64_t delayed() const noexcept { return delayed_; }
    // The end of the run.
    [[nodiscard]] Instant end() const noexcept { return end_; }

private:
    std::function<bool()> goes_on_;
    DotList dots_;
    StateCourse state_;
    std::optional<DayTally> days_;
    std::uint64_t delayed_ = 0;
    std::uint64_t asked_ = 0;
    Instant end_{};
};

}  // namespace sluice
