#pragma once
#include "lib/watch/heatmap/heat_epoch.hpp"

#include <cstdint>

namespace sluice {

// The second in which an epoch lies. Epochs are about a second long and begin anywhere in one:
// while their numbers follow each other, so do the seconds, unless the clocks have drifted apart by
// one. Those that a reload has cut lie where their middles do, several in one second.
class EpochClock {
public:
    // UTC, in seconds. Never less than before, unless the box's clock was set back by more than
    // kMostBack.
    [[nodiscard]] std::int64_t second_of(const HeatEpoch& epoch) noexcept {
        const std::int64_t length = epoch.ended_utc_ns - epoch.began_utc_ns;
        const std::int64_t middle = epoch.began_utc_ns + length / 2;
        const std::int64_t due = second_ + static_cast<std::int64_t>(epoch.number - number_);
        const std::int64_t off = middle - (due * kSecond + kSecond / 2);
        const bool is_whole = length > kSecond / 2;
        const bool follows = was_whole_ && is_whole && number_ != 0 && epoch.number > number_ &&
                             off < kSecond && off > -kSecond;
        const std::int64_t second = follows ? due : middle / kSecond;
        const bool is_back = number_ != 0 && second < second_ && second_ - second <= kMostBack;
        number_ = epoch.number;
        was_whole_ = is_whole;
        second_ = is_back ? second_ : second;
        return second_;
    }

private:
    static constexpr std::int64_t kSecond = 1'000'000'000;
    static constexpr std::int64_t kMostBack = 2;  // seconds

    std::uint64_t number_ = 0;
    std::int64_t second_ = 0;
    bool was_whole_ = false;
};

}  // namespace sluice
