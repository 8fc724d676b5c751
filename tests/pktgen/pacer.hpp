#pragma once
#include "lib/base/wide.hpp"

#include <cmath>
#include <cstdint>
#include <optional>

namespace sluice::pktgen {

// A second of units (packets, or bits on the wire), spread evenly over ticks. What is due is
// computed from the beginning each time, so no rounding adds up. Time is an argument.
class Pacer {
public:
    // Without a rate everything is due at once. `backlog` is how many units may be made up for
    // after a pause; what lies beyond is skipped and counted, since a burst above the rate would be
    // no such rate.
    struct Plan {
        std::optional<double> units_per_second;  // none: as fast as the port takes them
        std::uint64_t ticks_per_second = 1;
        std::uint64_t backlog = 0;
    };

    Pacer(const Plan& plan, std::uint64_t begin) noexcept
        : is_paced_{plan.units_per_second.has_value()},
          millionths_per_second_{static_cast<std::uint64_t>(
              std::llround(plan.units_per_second.value_or(0) * kMillionths))},
          ticks_per_millionth_{Wide{plan.ticks_per_second} * kMillionths},
          backlog_{plan.backlog},
          begin_{begin} {}

    // Brings what is due up to date. `now` never goes back.
    void advance(std::uint64_t now) noexcept {
        if (!is_paced_) {
            return;
        }
        const Wide millionths = static_cast<Wide>(now - begin_) * millionths_per_second_;
        due_ = static_cast<std::uint64_t>(millionths / ticks_per_millionth_);
        const std::uint64_t done = spent_ + skipped_;
        if (due_ > done && due_ - done > backlog_) {
            skipped_ += due_ - done - backlog_;
        }
    }
    // Whether one more may leave. The first is due at the beginning.
    [[nodiscard]] bool is_due() const noexcept { return !is_paced_ || spent_ + skipped_ <= due_; }
    void spend(std::uint64_t units) noexcept { spent_ += units; }

    [[nodiscard]] std::uint64_t spent() const noexcept { return spent_; }
    [[nodiscard]] std::uint64_t skipped() const noexcept { return skipped_; }

private:
    // A search comes to rates of less than one unit a second, and to fractions of one.
    static constexpr std::uint64_t kMillionths = 1'000'000;

    bool is_paced_;
    std::uint64_t millionths_per_second_;
    Wide ticks_per_millionth_;
    std::uint64_t backlog_;
    std::uint64_t begin_;
    std::uint64_t due_ = 0;
    std::uint64_t spent_ = 0;
    std::uint64_t skipped_ = 0;
};

}  // namespace sluice::pktgen
