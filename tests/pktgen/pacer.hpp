#pragma once
#include "lib/base/wide.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace sluice::pktgen {

// A second of units (packets, or bits on the wire), spread evenly over ticks. What is due is
// computed from the beginning each time, so no rounding adds up. Time is an argument.
class Pacer {
public:
    // Without a rate everything is due at once. `backlog` is how many units may be made up for
    // after a pause; what lies beyond is skipped and counted, since a burst above the rate would be
    // no such rate.
    struct Plan {
        std::uint64_t units_per_second = 0;  // 0: as fast as the port takes them
        std::uint64_t ticks_per_second = 1;
        std::uint64_t backlog = 0;
    };

    Pacer(const Plan& plan, std::uint64_t begin) noexcept : plan_{plan}, begin_{begin} {}

    // Brings what is due up to date. `now` never goes back.
    void advance(std::uint64_t now) noexcept {
        if (plan_.units_per_second == 0) {
            return;
        }
        const Wide units = static_cast<Wide>(now - begin_) * plan_.units_per_second;
        due_ = static_cast<std::uint64_t>(units / plan_.ticks_per_second);
        const std::uint64_t done = spent_ + skipped_;
        if (due_ > done && due_ - done > plan_.backlog) {
            skipped_ += due_ - done - plan_.backlog;
        }
    }
    // Whether one more may leave. The first is due at the beginning.
    [[nodiscard]] bool is_due() const noexcept {
        return plan_.units_per_second == 0 || spent_ + skipped_ <= due_;
    }
    void spend(std::uint64_t units) noexcept { spent_ += units; }

    [[nodiscard]] std::uint64_t spent() const noexcept { return spent_; }
    [[nodiscard]] std::uint64_t skipped() const noexcept { return skipped_; }

private:
    Plan plan_;
    std::uint64_t begin_;
    std::uint64_t due_ = 0;
    std::uint64_t spent_ = 0;
    std::uint64_t skipped_ = 0;
};

}  // namespace sluice::pktgen
