#include "lib/bucket/meter/distinct_limit.hpp"

#include <string>

namespace sluice {
namespace {

Result<DistinctLimit> made(Units count, Nanoseconds window, std::uint64_t most) {
    if (count.count() > most) {
        return Error{Errc::OutOfRange,
                     "the count is too large for different values, each of which is kept; the "
                     "largest that fits is " +
                         std::to_string(most)};
    }
    if (window < kShortestDistinctWindow) {
        return Error{Errc::OutOfRange, "the window is too short; the shortest is 1s"};
    }
    const Result<WindowNumbers> numbers = make_window_numbers(count, window);
    if (!numbers) {
        return numbers.error();
    }
    return DistinctLimit{*numbers};
}

}  // namespace

Result<DistinctLimit> make_distinct(Units count, Nanoseconds window) {
    return made(count, window, kMostDistinct);
}

Result<DistinctLimit> DistinctLimit::checked() const {
    return made(Units{numbers.count}, Nanoseconds{numbers.window}, kMostScaledDistinct);
}

}  // namespace sluice
