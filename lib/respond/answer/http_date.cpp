#include "lib/respond/answer/http_date.hpp"

#include <chrono>

namespace sluice {
namespace {

constexpr auto kWeekdays =
    std::to_array<std::string_view>({"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"});
constexpr auto kMonths = std::to_array<std::string_view>(
    {"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"});

// Places of the parts in "Thu, 01 Jan 1970 00:00:00 GMT".
constexpr std::size_t kDayAt = 5;
constexpr std::size_t kMonthAt = 8;
constexpr std::size_t kYearAt = 12;
constexpr std::size_t kHourAt = 17;
constexpr std::size_t kMinuteAt = 20;
constexpr std::size_t kSecondAt = 23;

}  // namespace

void HttpDate::write(std::uint32_t second) noexcept {
    const std::chrono::sys_seconds instant{std::chrono::seconds{second}};
    const auto day = std::chrono::floor<std::chrono::days>(instant);
    const std::chrono::year_month_day date{day};
    const std::chrono::hh_mm_ss time{instant - day};
    const auto put = [this](std::size_t at, std::string_view text) {
        text.copy(text_.data() + at, text.size());
    };
    const auto put_two = [this](std::size_t at, unsigned number) {
        text_[at] = static_cast<char>('0' + number / 10 % 10);
        text_[at + 1] = static_cast<char>('0' + number % 10);
    };
    const auto year = static_cast<unsigned>(static_cast<int>(date.year()));
    put(0, kWeekdays[std::chrono::weekday{day}.c_encoding()]);
    put_two(kDayAt, static_cast<unsigned>(date.day()));
    put(kMonthAt, kMonths[static_cast<unsigned>(date.month()) - 1]);
    put_two(kYearAt, year / 100);
    put_two(kYearAt + 2, year);
    put_two(kHourAt, static_cast<unsigned>(time.hours().count()));
    put_two(kMinuteAt, static_cast<unsigned>(time.minutes().count()));
    put_two(kSecondAt, static_cast<unsigned>(time.seconds().count()));
    second_ = second;
}

}  // namespace sluice
