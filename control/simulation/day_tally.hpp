#pragma once
#include "lib/base/units.hpp"
#include "lib/bucket/meter/window_limit.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sluice {

inline constexpr std::size_t kMostTalliedDays = 64;

// Units offered and admitted in each window of days of a zone, by its clocks.
class DayTally {
public:
    struct Window {
        std::int64_t index = 0;
        std::int64_t from = 0;  // UTC, seconds since 1970
        std::int64_t to = 0;
        std::uint64_t offered = 0;
        std::uint64_t admitted = 0;
    };

    // `start`: UTC at 0 s of the run.
    DayTally(const DayWindowLimit& limit, Nanoseconds start) noexcept
        : limit_{limit}, start_{start} {}

    // In order of time. Windows behind the first kMostTalliedDays are only counted.
    void add(Instant asked, std::uint64_t units, bool admitted);

    [[nodiscard]] const std::vector<Window>& windows() const noexcept { return windows_; }
    [[nodiscard]] std::size_t left_out() const noexcept { return left_out_; }

private:
    [[nodiscard]] std::int64_t index_at(Instant at) const noexcept;

    DayWindowLimit limit_;
    Nanoseconds start_;
    std::vector<Window> windows_;
    std::int64_t last_left_out_ = 0;
    std::size_t left_out_ = 0;
};

// The windows of this limit that a stretch of its own length may touch, at most, within a run of
// that length from `start` on.
[[nodiscard]] std::uint64_t most_windows_touched(const DayWindowLimit& limit, Nanoseconds start,
                                                 Nanoseconds length) noexcept;

}  // namespace sluice
