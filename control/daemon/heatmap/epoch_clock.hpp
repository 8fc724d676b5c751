#pragma once
#include "lib/watch/heatmap/heat_epoch.hpp"

#include <cstdint>

namespace sluice {

// The second in which an epoch lies. Epochs are about a second long and begin anywhere in one:
// while their numbers follow each other, so do the seconds, unless the clocks have drifted apart by
// one.
class EpochClock {
public:
    // UTC, in seconds.
    [[nodiscard]] std::int64_t second_of(const HeatEpoch& epoch) noexcept {
        constexpr std::int64_t kSecond = 1'000'000'000;
        const std::int64_t middle =
            epoch.began_utc_ns + (epoch.ended_utc_ns - epoch.began_utc_ns) / 2;
        const std::int64_t due = second_ + static_cast<std::int64_t>(epoch.number - number_);
        const std::int64_t off = middle - (due * kSecond + kSecond / 2);
        const bool follows =
            number_ != 0 && epoch.number > number_ && off < kSecond && off > -kSecond;
        number_ = epoch.number;
        second_ = follows ? due : middle / kSecond;
        return second_;
    }

private:
    std::uint64_t number_ = 0;
    std::int64_t second_ = 0;
};

}  // namespace sluice
