#include "lib/bucket/meter/concurrency_limit.hpp"

#include <algorithm>

namespace sluice {

Result<ConcurrencyLimit> make_concurrency(Units count, Nanoseconds idle, Nanoseconds half_open,
                                          CountedFrom from) {
    constexpr Nanoseconds kMs = std::chrono::milliseconds{1};
    if (idle < kShortestWindow) {
        return Error{Errc::OutOfRange, "`idle` is too short; the shortest is 1ms"};
    }
    if (idle > kLongestWindow) {
        return Error{Errc::OutOfRange, "`idle` is too long; the longest is 366d"};
    }
    if (half_open < kMs || half_open % kMs != Nanoseconds{0}) {
        return Error{Errc::OutOfRange, "`half_open` is a whole number of ms, the shortest is 1ms"};
    }
    if (half_open > kLongestHalfOpen) {
        return Error{Errc::OutOfRange, "`half_open` is too long; the longest is 1d"};
    }
    if (half_open > idle) {
        return Error{Errc::OutOfRange, "`half_open` is at most `idle`"};
    }
    const Result<WindowNumbers> numbers = make_window_numbers(count, idle);
    if (!numbers) {
        return numbers.error();
    }
    return ConcurrencyLimit{*numbers, static_cast<std::uint32_t>(half_open / kMs), from};
}

Nanoseconds usual_half_open(Nanoseconds idle) noexcept {
    constexpr Nanoseconds kMs = std::chrono::milliseconds{1};
    return std::min(kUsualHalfOpen, std::max(idle / kMs, std::int64_t{1}) * kMs);
}

Result<ConcurrencyLimit> ConcurrencyLimit::checked() const {
    return make_concurrency(Units{numbers.count}, Nanoseconds{numbers.window},
                            std::chrono::milliseconds{half_open_ms}, from);
}

}  // namespace sluice
