#include "lib/policy/limits/window_limit_reader.hpp"

#include "lib/meter/window_limit.hpp"
#include "lib/policy/values/units_text.hpp"

#include <array>

namespace sluice {
namespace {

constexpr auto kPhaseWords = std::to_array<std::string_view>({"clock", "first", "per_key"});
constexpr auto kEdgeWords = std::to_array<std::string_view>({"strict", "lenient"});
constexpr std::uint32_t kUsualBuckets = 60;

// Count and window. nullopt: reported.
std::optional<WindowNumbers> read_window(const LimitNumbersReader& numbers, LimitText& limit) {
    const std::optional<Units> count = numbers.amount("count");
    const std::optional<Nanoseconds> window = numbers.duration("window");
    if (!count || !window) {
        return std::nullopt;
    }
    numbers.warn_if_below_mtu("count", *count);
    const Result<WindowNumbers> made = make_window_numbers(*count, *window);
    if (!made) {
        const bool of_count = made.error().what.starts_with("the count");
        numbers.report(made.error(), {of_count ? "count" : "window"});
        return std::nullopt;
    }
    limit.text += " " + numbers.text("count") + " in " + numbers.text("window");
    // Windows of one length are one schema, however the length is written.
    limit.schema.push_back({"window", std::to_string(made->window)});
    return *made;
}

std::string bound_of(const LimitNumbersReader& numbers, std::string_view before) {
    return std::string{before} + numbers.text("count") + std::string{numbers.unit_word()} +
           " in any " + numbers.text("window");
}

}  // namespace

void read_fixed_window(const LimitNumbersReader& numbers, LimitText& limit) {
    const std::optional<WindowNumbers> window = read_window(numbers, limit);
    const std::size_t phase = numbers.map().word("phase", kPhaseWords).value_or(0);
    Nanoseconds offset{0};
    if (const std::optional<std::string> text = numbers.map().text("utc_offset")) {
        const std::optional<Nanoseconds> parsed = parse_utc_offset(*text);
        if (!parsed) {
            numbers.context().problems.error(
                numbers.map().find("utc_offset")->at,
                "`utc_offset` is written \"+03:00\", from -23:59 to +23:59; found " +
                    kind_name(*numbers.map().find("utc_offset")));
            return;
        }
        offset = *parsed;
    }
    if (!window) {
        return;
    }
    const Result<FixedWindowLimit> made =
        make_fixed_window(*window, static_cast<WindowPhase>(phase), offset);
    if (!made) {
        numbers.report(made.error(), {"utc_offset"});
        return;
    }
    limit.text += " phase " + std::string{kPhaseWords[phase]};
    limit.schema.push_back({"phase", std::string{kPhaseWords[phase]}});
    limit.schema.push_back({"utc_offset", std::to_string(offset.count())});
    limit.bound = bound_of(numbers, "2 * ");
    limit.numbers = *made;
}

void read_sliding_window(const LimitNumbersReader& numbers, LimitText& limit) {
    if (const std::optional<WindowNumbers> window = read_window(numbers, limit)) {
        limit.bound = bound_of(numbers, "under 2 * ");
        limit.numbers = SlidingWindowLimit{*window};
    }
}

void read_sliding_counters(const LimitNumbersReader& numbers, LimitText& limit) {
    const std::optional<WindowNumbers> window = read_window(numbers, limit);
    const std::uint64_t buckets =
        numbers.map().number("buckets", kMostSubWindows).value_or(kUsualBuckets);
    const std::size_t edge = numbers.map().word("edge", kEdgeWords).value_or(0);
    if (!window) {
        return;
    }
    const Result<SlidingCountersLimit> made = make_sliding_counters(
        *window, static_cast<std::uint32_t>(buckets), static_cast<Edge>(edge));
    if (!made) {
        numbers.report(made.error(), {"buckets", "window"});
        return;
    }
    limit.schema.push_back({"buckets", std::to_string(buckets) + " buckets"});
    limit.schema.push_back({"edge", std::string{kEdgeWords[edge]}});
    limit.text += " " + std::to_string(buckets) + " buckets " + std::string{kEdgeWords[edge]};
    limit.bound = bound_of(numbers, edge == 0 ? "" : "2 * ");
    limit.numbers = *made;
}

void read_sliding_log(const LimitNumbersReader& numbers, LimitText& limit) {
    if (const std::optional<WindowNumbers> window = read_window(numbers, limit)) {
        limit.bound = bound_of(numbers, "");
        limit.numbers = SlidingLogLimit{*window};
    }
}

}  // namespace sluice
