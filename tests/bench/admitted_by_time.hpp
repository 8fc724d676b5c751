#pragma once
#include "lib/base/units.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sluice::bench {

// How many packets of one key a thread has admitted, by the microsecond, so that what several
// threads have can be added up afterwards.
class AdmittedByTime {
public:
    // Notes nothing before; from then on for so long.
    void begin(Instant at, Nanoseconds lasts) {
        begin_ = at;
        counts_.assign(place_of(at + lasts), 0);
    }
    // What is not in that time is not noted.
    void note(Instant at) noexcept {
        const std::size_t place = place_of(at);
        if (place < counts_.size()) {
            ++counts_[place];
        }
    }
    [[nodiscard]] std::span<const std::uint32_t> counts() const noexcept { return counts_; }
    [[nodiscard]] Instant time_of(std::size_t place) const noexcept {
        return begin_ + static_cast<std::int64_t>(place) * kEach;
    }

private:
    static constexpr Nanoseconds kEach{1'000};

    [[nodiscard]] std::size_t place_of(Instant at) const noexcept {
        return static_cast<std::size_t>((at - begin_) / kEach);
    }

    Instant begin_{};
    std::vector<std::uint32_t> counts_;
};

}  // namespace sluice::bench
