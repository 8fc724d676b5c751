#include "control/simulation/course_words.hpp"

#include "control/simulation/load.hpp"
#include "control/simulation/load_words.hpp"
#include "lib/policy/overrides/until_text.hpp"
#include "lib/policy/values/units_text.hpp"

#include <algorithm>
#include <string>

namespace sluice {
namespace {

constexpr Nanoseconds kShortestBar = std::chrono::microseconds{1};
// Keeps the end of the longest run within the instants that 64 bits hold.
constexpr Nanoseconds kLatestStart = std::chrono::hours{24 * 366 * 200};

Result<Stall> read_stall(std::string_view text, Spelling spelling) {
    const std::string name = spelled(spelling == Spelling::Option ? "stall" : "stalls", spelling);
    const std::size_t colon = text.find(':');
    if (colon == std::string_view::npos) {
        return Error{Errc::BadSyntax, name + " is START:LENGTH, such as 4s:1s"};
    }
    const Result<Nanoseconds> from = read_span(name, text.substr(0, colon), Nanoseconds{0});
    if (!from) {
        return from.error();
    }
    const Result<Nanoseconds> length = read_span(name, text.substr(colon + 1), Nanoseconds{1});
    if (!length) {
        return length.error();
    }
    return Stall{Instant{*from}, *length};
}

Result<Done> read_duration(const RunWords& words, Spelling spelling, Course& course) {
    if (words.duration.empty()) {
        if (!ends_by_itself(words.load)) {
            course.duration = std::chrono::seconds{10};
        }
        return Done{};
    }
    const std::string name = spelled("duration", spelling);
    const Result<Nanoseconds> value = read_span(name, words.duration, Nanoseconds{1});
    if (!value) {
        return value.error();
    }
    if (*value / course.bar >= static_cast<std::int64_t>(kMostBars)) {
        return Error{Errc::OutOfRange, name + " has more than " + std::to_string(kMostBars) +
                                           " bars; give a longer " + spelled("bar", spelling)};
    }
    course.duration = *value;
    return Done{};
}

Result<Done> read_stalls(const RunWords& words, Spelling spelling, Course& course) {
    for (const std::string& text : words.stalls) {
        const Result<Stall> stall = read_stall(text, spelling);
        if (!stall) {
            return stall.error();
        }
        course.stalls.push_back(*stall);
    }
    std::sort(course.stalls.begin(), course.stalls.end(),
              [](const Stall& a, const Stall& b) { return a.from < b.from; });
    return Done{};
}

Result<Done> read_start(const RunWords& words, Spelling spelling, Course& course) {
    if (words.start.empty()) {
        return Done{};
    }
    // A day alone means its end where bans go by it, and would mean its beginning here.
    const Result<Nanoseconds> start = parse_until(words.start);
    if (!start || words.start.size() <= std::string_view{"2026-03-29"}.size()) {
        return Error{Errc::BadSyntax, spelled("start", spelling) +
                                          " is an instant in UTC, such as "
                                          "2026-03-28T12:00:00Z"};
    }
    if (*start > kLatestStart) {
        return Error{Errc::OutOfRange, spelled("start", spelling) + " is too late a year"};
    }
    course.start = *start;
    return Done{};
}

}  // namespace

Result<Nanoseconds> read_span(std::string_view name, std::string_view text, Nanoseconds shortest) {
    const Result<Nanoseconds> value = parse_duration(text);
    if (!value) {
        return Error{value.error().code, std::string{name} + ": " + value.error().what};
    }
    if (*value < shortest || *value > kLongestRun) {
        return Error{Errc::OutOfRange, std::string{name} + " must be at least " +
                                           std::to_string(shortest.count()) +
                                           " ns and at most 800d"};
    }
    return *value;
}

Result<Course> read_run(const RunWords& words, Spelling spelling) {
    Course course;
    const Result<Nanoseconds> bar = read_span(spelled("bar", spelling), words.bar, kShortestBar);
    if (!bar) {
        return bar.error();
    }
    course.bar = *bar;
    for (const auto& read : {read_duration, read_stalls, read_start}) {
        const Result<Done> done = read(words, spelling, course);
        if (!done) {
            return done.error();
        }
    }
    const Result<std::uint64_t> seed = parse_number(words.seed, ~std::uint64_t{0});
    if (!seed) {
        return Error{seed.error().code, spelled("seed", spelling) + ": " + seed.error().what};
    }
    course.seed = *seed;
    return course;
}

}  // namespace sluice
