#include "control/confirm_time.hpp"

#include "lib/policy/values/units_text.hpp"

#include <string>

namespace sluice {

Result<Nanoseconds> parse_confirm_time(std::string_view text) {
    Result<Nanoseconds> time = parse_duration(text);
    if (time && (*time < kShortestConfirm || *time > kLongestConfirm)) {
        return Error{Errc::OutOfRange,
                     "the time to confirm is from 1s to 1d, found `" + std::string{text} + "`"};
    }
    return time;
}

}  // namespace sluice
