#include "control/cli/simulate/course_words.hpp"

#include "lib/policy/values/units_text.hpp"

#include <algorithm>
#include <string>

namespace sluice {
namespace {

constexpr Nanoseconds kShortestBar = std::chrono::microseconds{1};

Result<Nanoseconds> duration(std::string_view option, std::string_view text, Nanoseconds shortest) {
    const Result<Nanoseconds> value = parse_duration(text);
    if (!value) {
        return Error{value.error().code, std::string{option} + ": " + value.error().what};
    }
    if (*value < shortest || *value > kLongestRun) {
        return Error{Errc::OutOfRange, std::string{option} + " must be at least " +
                                           std::to_string(shortest.count()) +
                                           " ns and at most 800d"};
    }
    return *value;
}

Result<Stall> read_stall(std::string_view text) {
    const std::size_t colon = text.find(':');
    if (colon == std::string_view::npos) {
        return Error{Errc::BadSyntax, "--stall is START:LENGTH, such as 4s:1s"};
    }
    const Result<Nanoseconds> from = duration("--stall", text.substr(0, colon), Nanoseconds{0});
    if (!from) {
        return from.error();
    }
    const Result<Nanoseconds> length = duration("--stall", text.substr(colon + 1), Nanoseconds{1});
    if (!length) {
        return length.error();
    }
    return Stall{Instant{*from}, *length};
}

// A backlog lasts as long as it takes, a capture as long as it is.
bool ends_by_itself(const SimulateOptions& options) {
    return options.load == "backlog" || options.load == "capture";
}

Result<Done> read_duration(const SimulateOptions& options, Course& course) {
    if (options.duration.empty()) {
        if (!ends_by_itself(options)) {
            course.duration = std::chrono::seconds{10};
        }
        return Done{};
    }
    const Result<Nanoseconds> value = duration("--duration", options.duration, Nanoseconds{1});
    if (!value) {
        return value.error();
    }
    if (*value / course.bar >= static_cast<std::int64_t>(kMostBars)) {
        return Error{Errc::OutOfRange, "--duration has more than " + std::to_string(kMostBars) +
                                           " bars; give a longer --bar"};
    }
    course.duration = *value;
    return Done{};
}

}  // namespace

Result<Course> read_course(const SimulateOptions& options) {
    Course course;
    const Result<Nanoseconds> bar = duration("--bar", options.bar, kShortestBar);
    if (!bar) {
        return bar.error();
    }
    course.bar = *bar;
    const Result<Done> done = read_duration(options, course);
    if (!done) {
        return done.error();
    }
    for (const std::string& text : options.stalls) {
        const Result<Stall> stall = read_stall(text);
        if (!stall) {
            return stall.error();
        }
        course.stalls.push_back(*stall);
    }
    std::sort(course.stalls.begin(), course.stalls.end(),
              [](const Stall& a, const Stall& b) { return a.from < b.from; });
    const auto window = options.limit.find("window");
    if (window != options.limit.end() && !window->second.empty()) {
        const Result<Nanoseconds> length = duration("--window", window->second, Nanoseconds{1});
        if (!length) {
            return length.error();
        }
        course.window = *length;
    }
    const Result<std::uint64_t> seed = parse_number(options.seed, ~std::uint64_t{0});
    if (!seed) {
        return Error{seed.error().code, "--seed: " + seed.error().what};
    }
    course.seed = *seed;
    return course;
}

}  // namespace sluice
