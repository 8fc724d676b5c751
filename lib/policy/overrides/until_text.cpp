#include "lib/policy/overrides/until_text.hpp"

#include "lib/base/ascii.hpp"

#include <charconv>
#include <chrono>
#include <optional>
#include <string>

namespace sluice {
namespace {

// Beyond that the ns of an instant do not fit 64 bits.
constexpr int kLastYear = 2261;

// `text` begins with digits in the places of `shape` that are 0, and is the same elsewhere.
bool has_shape(std::string_view text, std::string_view shape) noexcept {
    for (std::size_t i = 0; i < shape.size(); ++i) {
        const bool digit = i < text.size() && is_ascii_digit(text[i]);
        if (i >= text.size() || (shape[i] == '0' ? !digit : text[i] != shape[i])) {
            return false;
        }
    }
    return text.size() == shape.size();
}

int number(std::string_view text, std::size_t at, std::size_t size) noexcept {
    int value = 0;
    (void)std::from_chars(text.data() + at, text.data() + at + size, value);
    return value;
}

std::optional<std::chrono::sys_days> read_day(std::string_view text) noexcept {
    const std::chrono::year_month_day day{
        std::chrono::year{number(text, 0, 4)},
        std::chrono::month{static_cast<unsigned>(number(text, 5, 2))},
        std::chrono::day{static_cast<unsigned>(number(text, 8, 2))}};
    const bool fits = day.ok() && day.year() >= std::chrono::year{1970} &&
                      day.year() <= std::chrono::year{kLastYear};
    return fits ? std::optional{std::chrono::sys_days{day}} : std::nullopt;
}

}  // namespace

Result<Nanoseconds> parse_until(std::string_view text) {
    constexpr std::string_view kDay = "0000-00-00";
    constexpr std::string_view kInstant = "0000-00-00T00:00:00Z";
    const bool whole_day = has_shape(text, kDay);
    const std::optional<std::chrono::sys_days> day =
        whole_day || has_shape(text, kInstant) ? read_day(text) : std::nullopt;
    if (day && whole_day) {
        return Nanoseconds{(*day + std::chrono::days{1}).time_since_epoch()};
    }
    if (day) {
        const std::chrono::hours hours{number(text, 11, 2)};
        const std::chrono::minutes minutes{number(text, 14, 2)};
        const std::chrono::seconds seconds{number(text, 17, 2)};
        if (hours.count() < 24 && minutes.count() < 60 && seconds.count() < 60) {
            return Nanoseconds{day->time_since_epoch() + hours + minutes + seconds};
        }
    }
    return Error{Errc::BadSyntax,
                 "expected a day such as 2027-12-31 or an instant such as "
                 "2027-12-31T12:00:00Z, found `" +
                     std::string{text} + "`"};
}

}  // namespace sluice
