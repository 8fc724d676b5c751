#pragma once
#include "lib/base/units.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sluice::bench {

// How long something took, many millions of times, or for how much: to 100 ns, up to 10 ms.
class TimeHistogram {
public:
    void add(Nanoseconds took, std::uint64_t times = 1) noexcept {
        const std::int64_t at = std::max<std::int64_t>(took.count(), 0) / kWidth;
        counts_[std::min(static_cast<std::size_t>(at), counts_.size() - 1)] += times;
        all_ += times;
    }
    void clear() noexcept {
        std::fill(counts_.begin(), counts_.end(), 0);
        all_ = 0;
    }
    [[nodiscard]] std::uint64_t count() const noexcept { return all_; }
    // In us, rounded up; that share took no longer.
    [[nodiscard]] double quantile(double share) const noexcept {
        const auto most = static_cast<std::uint64_t>(share * static_cast<double>(all_));
        std::uint64_t below = 0;
        std::size_t at = 0;
        while (at + 1 < counts_.size() && below + counts_[at] <= most) {
            below += counts_[at++];
        }
        return static_cast<double>((static_cast<std::int64_t>(at) + 1) * kWidth) / 1000;
    }

private:
    static constexpr std::int64_t kWidth = 100;  // ns
    std::vector<std::uint64_t> counts_ = std::vector<std::uint64_t>(100'000);
    std::uint64_t all_ = 0;
};

}  // namespace sluice::bench
