#include "lib/bucket/meter/penalty_limit.hpp"

namespace sluice {

Result<PenaltyLimit> make_penalty(Units after, Nanoseconds within, Nanoseconds lasts) {
    const Result<WindowNumbers> numbers = make_window_numbers(after, within);
    if (!numbers) {
        return numbers.error();
    }
    if (lasts < kShortestWindow) {
        return Error{Errc::OutOfRange, "the ban is too short; the shortest is 1ms"};
    }
    if (lasts > kLongestWindow) {
        return Error{Errc::OutOfRange, "the ban is too long; the longest is 366d"};
    }
    return PenaltyLimit{.after = numbers->count, .within = numbers->window, .lasts = lasts.count()};
}

Result<PenaltyLimit> PenaltyLimit::checked() const {
    return make_penalty(Units{after}, Nanoseconds{within}, Nanoseconds{lasts});
}

}  // namespace sluice
