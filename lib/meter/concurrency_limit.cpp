#include "lib/meter/concurrency_limit.hpp"

namespace sluice {

Result<ConcurrencyLimit> make_concurrency(Units count, Nanoseconds idle) {
    if (idle < kShortestWindow) {
        return Error{Errc::OutOfRange, "`idle` is too short; the shortest is 1ms"};
    }
    if (idle > kLongestWindow) {
        return Error{Errc::OutOfRange, "`idle` is too long; the longest is 366d"};
    }
    const Result<WindowNumbers> numbers = make_window_numbers(count, idle);
    if (!numbers) {
        return numbers.error();
    }
    return ConcurrencyLimit{*numbers};
}

}  // namespace sluice
