#pragma once
#include "lib/bucket/meter/color_limit.hpp"
#include "lib/bucket/meter/concurrency_limit.hpp"
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
using AnyLimit =
    std::variant<TokenBucketLimit, LeakyBucketLimit, FixedWindowLimit, SlidingWindowLimit,
                 SlidingCountersLimit, SlidingLogLimit, ColorLimit, PenaltyLimit, ConcurrencyLimit>;

// Its index in AnyLimit.
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
};
inline constexpr std::size_t kAlgorithmCount = std::variant_size_v<AnyLimit>;
static_assert(std::is_trivially_copyable_v<AnyLimit>);

[[nodiscard]] inline Algorithm algorithm_of(const AnyLimit& limit) noexcept {
    return static_cast<Algorithm>(limit.index());
}

}  // namespace sluice
