#include "control/simulation/promise.hpp"

#include "control/simulation/day_tally.hpp"
#include "lib/base/wide.hpp"

#include <algorithm>
#include <limits>
#include <type_traits>
#include <variant>

namespace sluice {
namespace {

constexpr std::uint64_t kUnbounded = std::numeric_limits<std::uint64_t>::max();

std::uint64_t at_most_64_bits(Wide units) noexcept {
    return units > kUnbounded ? kUnbounded : static_cast<std::uint64_t>(units);
}

// A full bucket, and what flows into it meanwhile.
Wide of_bucket(const Limit& limit, Nanoseconds window) noexcept {
    if (limit.burst() == 0) {
        return 0;
    }
    const Wide parts = static_cast<Wide>(window.count()) * limit.parts();
    return limit.burst() + parts / limit.period();
}

Wide of_colors(const ColorLimit& limit, Nanoseconds window) noexcept {
    const Wide second = of_bucket(limit.second(), window);
    switch (limit.variant()) {
        case ColorVariant::Rfc2697:
            // One rate fills both, and what one has no room for goes into the other.
            return limit.first().burst() == 0
                       ? second
                       : of_bucket(limit.first(), window) + limit.second().burst();
        case ColorVariant::Rfc2698:
            return second;
        default:
            return of_bucket(limit.first(), window) + second;
    }
}

template <typename Numbers>
concept Windowed = requires(const Numbers& numbers) { numbers.numbers.window; };

}  // namespace

std::optional<Nanoseconds> window_of(const AnyLimit& limit) noexcept {
    return std::visit(
        [](const auto& numbers) -> std::optional<Nanoseconds> {
            if constexpr (Windowed<std::remove_cvref_t<decltype(numbers)>>) {
                return Nanoseconds{numbers.numbers.window};
            } else {
                return std::nullopt;
            }
        },
        limit);
}

std::uint64_t promised_most(const AnyLimit& limit, const Course& course,
                            Nanoseconds length) noexcept {
    const auto times = [](std::uint64_t factor, const WindowNumbers& numbers) {
        return at_most_64_bits(static_cast<Wide>(factor) * numbers.count);
    };
    switch (algorithm_of(limit)) {
        case Algorithm::TokenBucket:
            return at_most_64_bits(
                of_bucket(std::get<TokenBucketLimit>(limit).gcra, course.window));
        case Algorithm::LeakyBucket:
            return at_most_64_bits(
                of_bucket(std::get<LeakyBucketLimit>(limit).gcra, course.window));
        case Algorithm::FixedWindow:
            return times(2, std::get<FixedWindowLimit>(limit).numbers);
        case Algorithm::SlidingWindow:
            return times(2, std::get<SlidingWindowLimit>(limit).numbers) - 1;
        case Algorithm::SlidingCounters: {
            const auto& counters = std::get<SlidingCountersLimit>(limit);
            return times(counters.edge == Edge::Strict ? 1 : 2, counters.numbers);
        }
        case Algorithm::SlidingLog:
            return times(1, std::get<SlidingLogLimit>(limit).numbers);
        case Algorithm::ColorMeter:
            return at_most_64_bits(of_colors(std::get<ColorLimit>(limit), course.window));
        case Algorithm::DayWindow: {
            const auto& days = std::get<DayWindowLimit>(limit);
            return times(most_windows_touched(days, course.start, length), days.numbers);
        }
        default:
            return kUnbounded;
    }
}

}  // namespace sluice
