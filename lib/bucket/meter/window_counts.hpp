#pragma once
#include <algorithm>
#include <cstdint>

// Counts of a fixed or sliding window, by the number of the window, so that those of several
// workers can be added up: an epoch says which window a unit was spent in.
//
//   |--- epoch - 1 ---|--- epoch ---|
//        previous         current
//
// `lasts`: in how many windows a unit counts, its own among them. 1: fixed, `previous` is 0; 2:
// sliding.
namespace sluice {

// Without initial values, so that it can be a member of a union.
struct WindowCounts {
    std::int64_t epoch;
    std::uint64_t current;
    std::uint64_t previous;
    [[nodiscard]] bool operator==(const WindowCounts&) const noexcept = default;
};

// True if a unit of `epoch` counts no more.
[[nodiscard]] constexpr bool is_over(std::int64_t epoch, const WindowCounts& counts,
                                     unsigned lasts) noexcept {
    return epoch + lasts <= counts.epoch;
}

// The same counts as a window that is not earlier has them.
[[nodiscard]] constexpr WindowCounts moved_to(const WindowCounts& counts, std::int64_t epoch,
                                              unsigned lasts) noexcept {
    if (epoch == counts.epoch) {
        return counts;
    }
    const bool counts_still = lasts == 2 && epoch == counts.epoch + 1;
    return {epoch, 0, counts_still ? counts.current : 0};
}

// The units of `epoch` that count.
[[nodiscard]] constexpr std::uint64_t counted_in(const WindowCounts& counts, std::int64_t epoch,
                                                 unsigned lasts) noexcept {
    const bool before = lasts == 2 && epoch == counts.epoch - 1;
    return epoch == counts.epoch ? counts.current : before ? counts.previous : 0;
}

// With units that were spent in `epoch`, which opens that window if it is later. What is over is
// left out.
[[nodiscard]] constexpr WindowCounts added(const WindowCounts& counts, std::int64_t epoch,
                                           std::uint64_t units, unsigned lasts) noexcept {
    if (is_over(epoch, counts, lasts)) {
        return counts;
    }
    WindowCounts sum = moved_to(counts, std::max(epoch, counts.epoch), lasts);
    (epoch == sum.epoch ? sum.current : sum.previous) += units;
    return sum;
}

// The larger of each, as of the later window of the two.
[[nodiscard]] constexpr WindowCounts larger(const WindowCounts& a, const WindowCounts& b,
                                            unsigned lasts) noexcept {
    const std::int64_t epoch = std::max(a.epoch, b.epoch);
    const WindowCounts x = moved_to(a, epoch, lasts);
    const WindowCounts y = moved_to(b, epoch, lasts);
    return {epoch, std::max(x.current, y.current), std::max(x.previous, y.previous)};
}

}  // namespace sluice
