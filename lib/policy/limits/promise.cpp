#include "lib/policy/limits/promise.hpp"

#include "lib/policy/compile.hpp"

#include <array>
#include <chrono>
#include <limits>
#include <string_view>

namespace sluice {
namespace {

constexpr std::uint64_t kEndless = std::numeric_limits<std::uint64_t>::max();

std::uint64_t sum_of(std::uint64_t one, std::uint64_t other) noexcept {
    return one > kEndless - other ? kEndless : one + other;
}

// A rate of bits counts bytes in eight times its period.
Rate per_written_period(const Rate& rate) noexcept {
    constexpr auto kPeriods =
        std::to_array<Nanoseconds>({std::chrono::seconds{1}, std::chrono::minutes{1},
                                    std::chrono::hours{1}, std::chrono::hours{24}});
    constexpr std::uint64_t kBits = 8;
    for (const Nanoseconds period : kPeriods) {
        if (rate.period == period * kBits) {
            return {Units{(rate.units.count() + kBits - 1) / kBits}, period};
        }
    }
    return rate;
}

struct Promising {
    const std::optional<Rate>& written;

    using Answer = std::optional<Promise>;

    [[nodiscard]] Answer bucket(const Limit& limit) const {
        if (!written) {
            return std::nullopt;
        }
        const Rate rate = per_written_period(*written);
        return Promise{sum_of(limit.burst(), rate.units.count()), rate.period};
    }
    [[nodiscard]] static Answer windows(const WindowNumbers& numbers, std::uint64_t times) {
        return Promise{numbers.count * times, Nanoseconds{numbers.window}};
    }

    Answer operator()(const TokenBucketLimit& limit) const { return bucket(limit.gcra); }
    Answer operator()(const LeakyBucketLimit& limit) const { return bucket(limit.gcra); }
    // The end of one window and the beginning of the next.
    Answer operator()(const FixedWindowLimit& limit) const { return windows(limit.numbers, 2); }
    Answer operator()(const DayWindowLimit& limit) const { return windows(limit.numbers, 2); }
    Answer operator()(const SlidingWindowLimit& limit) const {
        return Promise{limit.numbers.count * 2 - 1, Nanoseconds{limit.numbers.window}};
    }
    Answer operator()(const SlidingCountersLimit& limit) const {
        return windows(limit.numbers, limit.edge == Edge::Strict ? 1 : 2);
    }
    Answer operator()(const SlidingLogLimit& limit) const { return windows(limit.numbers, 1); }
    Answer operator()(const ConcurrencyLimit& limit) const {
        return Promise{limit.numbers.count, {}};
    }
    Answer operator()(const DistinctLimit& limit) const { return windows(limit.numbers, 2); }
    Answer operator()(const ColorLimit& /*limit*/) const { return std::nullopt; }
    Answer operator()(const PenaltyLimit& /*limit*/) const { return std::nullopt; }
};

struct WindowWord {
    Nanoseconds length;
    std::string_view word;
    std::string_view several;
};
constexpr auto kWindowWords = std::to_array<WindowWord>({
    {std::chrono::hours{24}, "day", "days"},
    {std::chrono::hours{1}, "hour", "hours"},
    {std::chrono::minutes{1}, "minute", "minutes"},
    {std::chrono::seconds{1}, "second", "seconds"},
    {std::chrono::milliseconds{1}, "millisecond", "milliseconds"},
});

// "minute", "90 seconds".
std::string window_text(Nanoseconds window) {
    for (const WindowWord& row : kWindowWords) {
        if (window.count() % row.length.count() == 0) {
            const auto times = window / row.length;
            return times == 1 ? std::string{row.word}
                              : std::to_string(times) + " " + std::string{row.several};
        }
    }
    return std::to_string(window.count()) + " ns";
}

}  // namespace

std::optional<Promise> promise_of(const AnyLimit& limit, const std::optional<Rate>& written) {
    return std::visit(Promising{written}, limit);
}

std::string promise_text(const LimitSummary& limit) {
    if (!limit.promise) {
        return "";
    }
    const Promise& promise = *limit.promise;
    const std::string begin = promise.window == Nanoseconds{0}
                                  ? "the most open at once: "
                                  : "the most in any " + window_text(promise.window) + ": ";
    const bool counts_bytes = limit.numbers && limit.numbers->per == Per::Byte;
    return begin + std::to_string(promise.most) + (counts_bytes ? " bytes" : "") + limit.cost_note +
           limit.scope_note + (limit.cluster ? limit.cluster->note : "");
}

}  // namespace sluice
