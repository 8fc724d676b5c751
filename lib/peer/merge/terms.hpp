#pragma once
#include "lib/base/wide.hpp"
#include "lib/bucket/meter/any_limit.hpp"

#include <cstddef>
#include <cstdint>

// Whether and how a limit whose keys are spent on several workers is shared by them.
namespace sluice {

// What a record notes, and as much on its way.
inline constexpr std::uint64_t kMostMaxUnsynced = std::uint64_t{1} << 30;

// What one packet may be charged at most: a thing, or the bytes of the longest frame.
[[nodiscard]] constexpr std::uint64_t largest_cost(bool bytes, std::uint64_t cost) noexcept {
    constexpr std::uint64_t kLongestFrame = 16'384;
    return bytes ? kLongestFrame * cost : cost;
}

enum class Sharing : std::uint8_t {
    Merged,   // amounts out, totals back; `max_unsynced` says how far workers may go ahead
    AtOwner,  // would be silly: its packets belong to the worker that owns the key
};

struct SharingQuestion {
    const AnyLimit& limit;
    std::uint64_t largest_cost;  // units that one packet may be charged
    std::size_t workers;
    Nanoseconds merge_interval;
    std::uint64_t max_unsynced = 0;  // as asked for; 0: derived
};

struct SharingTerms {
    Sharing sharing = Sharing::AtOwner;
    std::uint64_t max_unsynced = 0;  // U
    // (workers - 1) * U, the most that is admitted beyond the rest; of windows, in each of them.
    std::uint64_t overshoot = 0;
    std::size_t most_workers = 0;  // with more than these it would not be merged
    const char* why = nullptr;     // of AtOwner
};

// The part of a burst or count that all workers together may go beyond it by default, if that is
// enough to be told seldom.
inline constexpr std::uint64_t kOvershootPart = 16;

// The larger of:
//   rate * 4 merge intervals + one largest cost: twice what is spent while an amount is on its way
//   there and back, each of which is seen after one interval at the latest;
//   what makes the overshoot of all of them 1/16 of the burst or count, in any window that the
//   limit's bound is said of: the more a worker may go ahead, the less there is to be told.
[[nodiscard]] std::uint64_t default_max_unsynced(const SharingQuestion& question) noexcept;

// Units that the rate of a merged limit gives in so long, rounded up.
[[nodiscard]] Wide units_given_in(Nanoseconds time, const AnyLimit& limit) noexcept;

// The limit is a bucket whose debts fit no entry of a table.
[[nodiscard]] bool lasts_too_long(const AnyLimit& limit) noexcept;

// The burst, or the count of a window; 0: not an algorithm that is merged.
[[nodiscard]] std::uint64_t most_at_once(const AnyLimit& limit) noexcept;

// How often the overshoot may come together in the span that the limit's bound is said of: once for
// each window that any W can touch.
[[nodiscard]] unsigned windows_touched(const AnyLimit& limit) noexcept;

// Token and leaky buckets, fixed windows (but for phase first), sliding windows and sub-windows are
// merged if the overshoot is at most half of their burst or count, and every number that comes up
// fits.
[[nodiscard]] SharingTerms terms_for(const SharingQuestion& question) noexcept;

}  // namespace sluice
