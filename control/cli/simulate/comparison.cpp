#include "control/cli/simulate/comparison.hpp"

#include "control/cli/simulate/limit_words.hpp"

namespace sluice {
namespace {

using namespace std::chrono_literals;

std::string word(const SimulateOptions& options, const char* name, const char* otherwise) {
    const auto found = options.limit.find(name);
    return found == options.limit.end() || found->second.empty() ? otherwise : found->second;
}

// A bucket of a share of the limit.
Limit bucket(const WindowNumbers& numbers, std::uint64_t units, std::uint64_t of_rate) {
    const Rate rate{Units{of_rate}, Nanoseconds{numbers.window}};
    return *Limit::make(rate, Units{units}, LeastBurst::Zero);
}

std::vector<SimulatedLimit> color_limits(const WindowNumbers& numbers) {
    using enum ColorVariant;
    const std::uint64_t second = numbers.count / 2;
    const std::uint64_t first = numbers.count - second;
    const auto make = [](ColorVariant variant, const Limit& one, const Limit& other) {
        return AnyLimit{*ColorLimit::make(variant, ColorMode::Blind, one, other)};
    };
    const Limit committed = bucket(numbers, first, first);
    const Limit whole = bucket(numbers, numbers.count, numbers.count);
    return {
        {"srtcm", make(Rfc2697, bucket(numbers, first, numbers.count),
                       bucket(numbers, second, numbers.count))},
        {"trtcm_rfc2698", make(Rfc2698, committed, whole)},
        {"trtcm_rfc4115",
         make(Rfc4115, committed, bucket(numbers, second, std::max<std::uint64_t>(second, 1)))},
    };
}

// A count that would not fit as a rate of its own is refused with the numbers that do.
Result<Done> check_rates(const WindowNumbers& numbers) {
    const std::uint64_t half = numbers.count / 2;
    for (const std::uint64_t units : {numbers.count, numbers.count - half, half}) {
        const Rate rate{Units{std::max<std::uint64_t>(units, 1)}, Nanoseconds{numbers.window}};
        const Result<Limit> made = Limit::make(rate, Units{numbers.count});
        if (!made) {
            return made.error();
        }
    }
    return Done{};
}

}  // namespace

Result<std::vector<SimulatedLimit>> compared_limits(const SimulateOptions& options, Per per) {
    if (!options.algorithm.empty()) {
        return Error{Errc::BadSyntax, "--compare runs every algorithm; leave out --algorithm"};
    }
    for (const auto& [name, value] : options.limit) {
        if (name != "count" && name != "window" && !value.empty()) {
            return Error{Errc::BadSyntax, "--compare takes --count and --window only"};
        }
    }
    const LimitWords words{{"count", word(options, "count", per == Per::Byte ? "1000B" : "1000")},
                           {"window", word(options, "window", "1s")}};
    const Result<AnyLimit> log = read_limit_words("sliding_log", words, per);
    if (!log) {
        return log.error();
    }
    const WindowNumbers numbers = std::get<SlidingLogLimit>(*log).numbers;
    const Result<Done> fits = check_rates(numbers);
    if (!fits) {
        return fits.error();
    }
    const Limit whole = bucket(numbers, numbers.count, numbers.count);
    std::vector<SimulatedLimit> limits{
        {"token_bucket", TokenBucketLimit{whole}},
        {"leaky_bucket", LeakyBucketLimit{whole}},
        {"fixed_window", FixedWindowLimit{.numbers = numbers}},
        {"sliding_window", SlidingWindowLimit{numbers}},
        {"sliding_counters", SlidingCountersLimit{.numbers = numbers}},
        {"counters_lenient", SlidingCountersLimit{.numbers = numbers, .edge = Edge::Lenient}},
        {"sliding_log", *log},
    };
    const std::vector<SimulatedLimit> colors = color_limits(numbers);
    limits.insert(limits.end(), colors.begin(), colors.end());
    return limits;
}

std::vector<Course> compared_courses(const Course& course) {
    Course undisturbed = course;
    undisturbed.stalls.clear();
    Course stalled = course;
    if (stalled.stalls.empty()) {
        stalled.stalls = {{Instant{4s}, 1s}, {Instant{6s}, 1s}};
    }
    return {undisturbed, stalled};
}

}  // namespace sluice
