#include "control/heatmap/limit_terms.hpp"

#include "control/time_text.hpp"
#include "lib/watch/heatmap/heat_buckets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <variant>

namespace sluice {
namespace {

constexpr auto kUnitWords = std::to_array<std::string_view>(
    {"packets", "bytes", "connections", "requests", "queries", "handshakes"});

struct Period {
    std::string_view name;
    double seconds;
};
constexpr auto kPeriods =
    std::to_array<Period>({{"second", 1}, {"minute", 60}, {"hour", 3600}, {"day", 86'400}});

// "5", "0.25": as few digits as say it.
std::string number_text(double number) {
    return fmt::format("{:.6g}", number);
}

// The shortest period in which at least one unit comes back, all of them whole where that can be.
std::string rate_words(double each_second, std::string_view unit) {
    const auto is_whole = [&](const Period& period) {
        const double units = each_second * period.seconds;
        return units >= 1 && std::abs(units - std::round(units)) < 1e-9 * units;
    };
    const auto whole = std::ranges::find_if(kPeriods, is_whole);
    const Period& period = whole == kPeriods.end() ? kPeriods.front() : *whole;
    return fmt::format("{} {} per {}", number_text(each_second * period.seconds), unit,
                       period.name);
}

std::string window_words(double seconds) {
    const auto same = std::ranges::find(kPeriods, seconds, &Period::seconds);
    return same != kPeriods.end()
               ? std::string{same->name}
               : time_text(static_cast<std::int64_t>(std::llround(seconds * 1e9)));
}

void take_bucket(const Limit& limit, HeatTerms& terms) {
    terms.at_once = static_cast<double>(limit.burst());
    terms.each_second =
        1e9 * static_cast<double>(limit.parts()) / static_cast<double>(limit.period());
    terms.window_s = terms.at_once / terms.each_second;
    terms.most = 2 * terms.at_once;
    terms.text = fmt::format("{}, {} at once", rate_words(terms.each_second, terms.unit),
                             number_text(terms.at_once));
}

void take_window(const WindowNumbers& numbers, HeatTerms& terms) {
    terms.at_once = static_cast<double>(numbers.count);
    terms.window_s = static_cast<double>(numbers.window) / 1e9;
    terms.most = terms.at_once;
    terms.text = fmt::format("{} {} per {}", number_text(terms.at_once), terms.unit,
                             window_words(terms.window_s));
}

}  // namespace

double HeatTerms::most_in(unsigned step_s) const noexcept {
    return each_second > 0 ? at_once + each_second * step_s
                           : at_once * std::max(1.0, window_s > 0 ? step_s / window_s : 1.0);
}

double HeatTerms::steady_in(unsigned step_s) const noexcept {
    const double units = each_second > 0 ? each_second * step_s
                         : window_s > 0  ? at_once * step_s / window_s
                                         : at_once;
    return std::max(1.0, units);
}

std::size_t HeatTerms::limit_bucket(unsigned step_s) const noexcept {
    constexpr double kLargest = 0x1p62;
    return offered_bucket(static_cast<std::uint64_t>(std::min(steady_in(step_s), kLargest)));
}

HeatTerms heat_terms(const LimitSummary& limit) {
    HeatTerms terms{.text = limit.text, .unit = kUnitWords.front()};
    if (!limit.numbers) {
        return terms;
    }
    terms.unit = kUnitWords[static_cast<std::size_t>(limit.numbers->per)];
    const AnyLimit& numbers = limit.numbers->limit;
    std::visit(
        [&](const auto& one) {
            if constexpr (requires { one.gcra; }) {
                take_bucket(one.gcra, terms);
            } else if constexpr (requires { one.numbers; }) {
                take_window(one.numbers, terms);
            } else if constexpr (requires { one.first(); }) {
                take_bucket(one.second().burst() > 0 ? one.second() : one.first(), terms);
            }
        },
        numbers);
    const bool has_words = counting_of(numbers) == Counting::Bucket ||
                           (counting_of(numbers) == Counting::Windows && !needs_value(numbers));
    terms.text = has_words ? terms.text : limit.text;
    terms.step = column_step(terms.window_s);
    return terms;
}

}  // namespace sluice
