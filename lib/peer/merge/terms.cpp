#include "lib/peer/merge/terms.hpp"

#include "lib/bucket/meter/counted_windows.hpp"
#include "lib/bucket/table/own_bucket.hpp"

#include <algorithm>

namespace sluice {
namespace {

// Debts of up to two bursts must fit a table's entry.
constexpr std::uint64_t kLongestBurst = std::uint64_t{1} << 55;  // ns

const WindowNumbers* window_of(const AnyLimit& limit) noexcept {
    if (const auto* counters = std::get_if<SlidingCountersLimit>(&limit)) {
        return &counters->numbers;
    }
    if (windows_counted(limit) == 0) {
        return nullptr;
    }
    if (const auto* days = std::get_if<DayWindowLimit>(&limit)) {
        return &days->numbers;
    }
    const auto* fixed = std::get_if<FixedWindowLimit>(&limit);
    return fixed != nullptr ? &fixed->numbers : &std::get<SlidingWindowLimit>(limit).numbers;
}

// What is spent while an amount is on its way, and one largest cost.
Wide on_its_way(const SharingQuestion& question) noexcept {
    return units_given_in(question.merge_interval * 4, question.limit) + question.largest_cost;
}

const char* why_not(const SharingQuestion& question, std::uint64_t max_unsynced) noexcept {
    if (max_unsynced < question.largest_cost) {
        return "max_unsynced is below the largest cost";
    }
    if (max_unsynced > kMostMaxUnsynced) {
        return "max_unsynced would be above 2^30";
    }
    if (lasts_too_long(question.limit)) {
        return "its burst lasts longer than 416 days";
    }
    if (static_cast<Wide>(max_unsynced) * (question.workers - 1) * 2 >
        most_at_once(question.limit)) {
        return gcra_of(question.limit) != nullptr
                   ? "(workers - 1) * max_unsynced would be over half of its burst"
                   : "(workers - 1) * max_unsynced would be over half of its count";
    }
    return nullptr;
}

}  // namespace

Wide units_given_in(Nanoseconds time, const AnyLimit& limit) noexcept {
    const auto ns = static_cast<Wide>(time.count());
    if (const Limit* gcra = gcra_of(limit)) {
        return (ns * gcra->parts() + gcra->period() - 1) / gcra->period();
    }
    const WindowNumbers& numbers = *window_of(limit);
    const auto window = static_cast<Wide>(numbers.window);
    return (ns * numbers.count + window - 1) / window;
}

bool lasts_too_long(const AnyLimit& limit) noexcept {
    const Limit* const gcra = gcra_of(limit);
    return gcra != nullptr && gcra->full() / gcra->parts() > kLongestBurst;
}

std::uint64_t most_at_once(const AnyLimit& limit) noexcept {
    if (const Limit* gcra = gcra_of(limit)) {
        return gcra->burst();
    }
    const WindowNumbers* window = window_of(limit);
    return window != nullptr ? window->count : 0;
}

unsigned windows_touched(const AnyLimit& limit) noexcept {
    if (const auto* counters = std::get_if<SlidingCountersLimit>(&limit)) {
        return counters->edge == Edge::Strict ? 1 : 2;
    }
    return windows_counted(limit) == 0 ? 1 : 2;
}

std::uint64_t default_max_unsynced(const SharingQuestion& question) noexcept {
    if (most_at_once(question.limit) == 0) {
        return question.largest_cost;
    }
    const std::uint64_t part = most_at_once(question.limit) / kOvershootPart /
                               windows_touched(question.limit) /
                               std::max<std::size_t>(question.workers - 1, 1);
    const Wide units = std::max<Wide>(on_its_way(question), std::min(part, kMostMaxUnsynced));
    return static_cast<std::uint64_t>(std::min<Wide>(units, UINT64_MAX));
}

SharingTerms terms_for(const SharingQuestion& question) noexcept {
    if (most_at_once(question.limit) == 0) {
        const bool first = std::holds_alternative<FixedWindowLimit>(question.limit);
        return {.why = first ? "each key's windows begin with its first unit"
                             : "its algorithm is not merged"};
    }
    const std::uint64_t max_unsynced =
        question.max_unsynced != 0 ? question.max_unsynced : default_max_unsynced(question);
    if (const char* why = why_not(question, max_unsynced)) {
        return {.why = why};
    }
    // By default each of more workers may go less far ahead.
    const Wide least = question.max_unsynced != 0 ? question.max_unsynced : on_its_way(question);
    const auto others = static_cast<std::size_t>(most_at_once(question.limit) / 2 / least);
    return {.sharing = Sharing::Merged,
            .max_unsynced = max_unsynced,
            .overshoot = (question.workers - 1) * max_unsynced,
            .most_workers = others + 1};
}

}  // namespace sluice
