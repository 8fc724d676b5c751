#pragma once
#include "lib/bucket/meter/color_limit.hpp"
#include "lib/bucket/meter/concurrency_limit.hpp"
#include "lib/bucket/meter/distinct_limit.hpp"
#include "lib/bucket/meter/limit.hpp"
#include "lib/bucket/meter/penalty_limit.hpp"
#include "lib/bucket/meter/window_limit.hpp"

#include <array>
#include <cstddef>
#include <string_view>
#include <type_traits>
#include <variant>

namespace sluice {

// The same arithmetic under two names: a leaky bucket's burst is the length of its queue, and it
// can tell when a packet would leave.
struct TokenBucketLimit {
    Limit gcra;
    [[nodiscard]] bool operator==(const TokenBucketLimit&) const noexcept = default;
};
struct LeakyBucketLimit {
    Limit gcra;
    [[nodiscard]] bool operator==(const LeakyBucketLimit&) const noexcept = default;
};

// The numbers of a limit, whatever its algorithm; or those of a rule's penalty box, whose state is
// kept like that of a limit.
using AnyLimit = std::variant<TokenBucketLimit, LeakyBucketLimit, FixedWindowLimit,
                              SlidingWindowLimit, SlidingCountersLimit, SlidingLogLimit, ColorLimit,
                              PenaltyLimit, ConcurrencyLimit, DistinctLimit, DayWindowLimit>;

// The index of an algorithm in AnyLimit.
enum class Algorithm : std::uint8_t {
    TokenBucket,
    LeakyBucket,
    FixedWindow,
    SlidingWindow,
    SlidingCounters,
    SlidingLog,
    ColorMeter,
    Penalty,
    Concurrency,
    Distinct,
    DayWindow,
};
inline constexpr std::size_t kAlgorithmCount = std::variant_size_v<AnyLimit>;
static_assert(std::is_trivially_copyable_v<AnyLimit>);

// The nature of what a bucket counts. It decides which numbers a limit has, and what becomes of its
// buckets under others.
enum class Counting : std::uint8_t {
    Bucket,       // fills at a rate; the state is in the entry
    Windows,      // units in windows, which mean the same under any count
    Colors,       // two buckets that fill at rates
    Refusals,     // until they are a ban
    Connections,  // that are open
};
struct AlgorithmRow {
    Algorithm algorithm;
    Counting counting;
};
inline constexpr std::array<AlgorithmRow, kAlgorithmCount> kAlgorithms{{
    {Algorithm::TokenBucket, Counting::Bucket},
    {Algorithm::LeakyBucket, Counting::Bucket},
    {Algorithm::FixedWindow, Counting::Windows},
    {Algorithm::SlidingWindow, Counting::Windows},
    {Algorithm::SlidingCounters, Counting::Windows},
    {Algorithm::SlidingLog, Counting::Windows},
    {Algorithm::ColorMeter, Counting::Colors},
    {Algorithm::Penalty, Counting::Refusals},
    {Algorithm::Concurrency, Counting::Connections},
    {Algorithm::Distinct, Counting::Windows},
    {Algorithm::DayWindow, Counting::Windows},
}};
static_assert(
    [] {
        for (std::size_t i = 0; i < kAlgorithmCount; ++i) {
            if (kAlgorithms[i].algorithm != static_cast<Algorithm>(i)) {
                return false;
            }
        }
        return true;
    }(),
    "kAlgorithms is indexed by Algorithm");

[[nodiscard]] inline Algorithm algorithm_of(const AnyLimit& limit) noexcept {
    return static_cast<Algorithm>(limit.index());
}
[[nodiscard]] inline Counting counting_of(const AnyLimit& limit) noexcept {
    return kAlgorithms[limit.index()].counting;
}

// True if a limit is asked about the value that a packet shows.
[[nodiscard]] inline bool needs_value(const AnyLimit& limit) noexcept {
    return algorithm_of(limit) == Algorithm::Distinct;
}

}  // namespace sluice
