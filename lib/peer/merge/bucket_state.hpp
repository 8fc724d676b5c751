#pragma once
#include "lib/bucket/meter/counted_windows.hpp"
#include "lib/bucket/meter/gcra.hpp"
#include "lib/peer/merge/account.hpp"
#include "lib/peer/merge/record.hpp"

#include <cstdint>

// How a bucket stands that several workers charge, and the arithmetic over it: a debt may be longer
// than the burst, and a count more than the limit's.
namespace sluice {

// In how many windows a unit counts, as windows_counted() says; or that it is tallied.
inline constexpr std::uint8_t kTallied = 255;
[[nodiscard]] inline std::uint8_t lasts_of(const AnyLimit& limit) noexcept {
    return is_tallied(limit) ? kTallied : static_cast<std::uint8_t>(windows_counted(limit));
}

struct BucketState {
    union {
        Gcra bucket{};
        WindowCounts counts;
        Tally tally;
    };
    std::uint8_t version = 0;  // of the numbers: instants mean nothing without them, counts do
    std::uint8_t lasts = 0;

    [[nodiscard]] bool has_counts() const noexcept { return lasts == 1 || lasts == 2; }
    [[nodiscard]] bool has_tally() const noexcept { return lasts == kTallied; }
};

// Beyond a total: what of it is of its current window, or of whatever has but one count, and of the
// window before.
struct More {
    std::uint64_t current = 0;
    std::uint64_t previous = 0;
    std::uint64_t newest = 0;  // of sub-windows: the latest that the total has something in
};

// True if a copy lacks so much of a total that it is to be told when that was spent.
[[nodiscard]] inline bool lacks_much(const BucketState& total, const BucketState& copy) noexcept {
    constexpr std::uint64_t kMuch = 32;  // the part of what counts
    return total.has_tally() && (total.tally.born != copy.tally.born ||
                                 total.tally.ever - copy.tally.ever > total.tally.sum / kMuch);
}

// How the bucket in a cell stands; of a limit that is merged.
[[nodiscard]] BucketState bucket_state_of(const Cell& cell, const AnyLimit& limit,
                                          const LinePool& pool, Now now) noexcept;

// When what is charged is due at the key's owner, by the copy that is charged `cost`: late, while
// at least half of the burst or count is left then, which is no less than others may have unsynced.
// What sub-windows count is due soon, since it counts from when it is told.
[[nodiscard]] Due due_of(const Cell& cell, const AnyLimit& limit, const LinePool& pool, Now now,
                         Units cost) noexcept;
[[nodiscard]] inline Due due_of(const Gcra& bucket, const Limit& limit, Instant now,
                                Units cost) noexcept {
    const std::uint64_t half = limit.full() / 2;
    const std::uint64_t debt = debt_of(bucket, limit, now);
    return debt <= half && cost.count() * limit.period() <= half - debt ? Due::Late : Due::Soon;
}

// True if the window of an account's turn counts no more.
[[nodiscard]] inline bool is_late(const Account& account, const BucketState& copy) noexcept {
    return copy.has_counts() &&
           is_over(epoch_of(account.turn, copy.counts.epoch), copy.counts, copy.lasts);
}

// True if `a` is in debt for longer than `b`, both under the same numbers.
[[nodiscard]] inline bool owes_more(const Gcra& a, const Gcra& b) noexcept {
    return a.fresh_from > b.fresh_from || (a.fresh_from == b.fresh_from && a.below < b.below);
}

// True if a total has anything that a copy has not, or cannot be compared with it.
[[nodiscard]] inline bool owes_more(const BucketState& total, const BucketState& copy) noexcept {
    if (total.lasts != copy.lasts) {
        return true;
    }
    if (total.has_tally()) {
        return total.tally.ever != copy.tally.ever || total.tally.born != copy.tally.born;
    }
    return total.lasts == 0 ? total.version != copy.version || owes_more(total.bucket, copy.bucket)
                            : larger(total.counts, copy.counts, total.lasts) != copy.counts;
}

// Units that were spent, and when; or later, but never before.
struct Spent {
    Instant at{};
    std::uint64_t units = 0;
};

// The bucket after that: max(TAT, at) + units * T. No debt at `now` is longer than two full
// buckets, which is more than an honest ledger can bring about (DESIGN.md), but where a burst that
// was lowered had left a longer one.
[[nodiscard]] Gcra charged(const Gcra& bucket, const Limit& limit, const Spent& spent,
                           Instant now) noexcept;

// The bucket after a charge that it need not have room for, such as what a box charges for each
// unit of its share of a limit.
[[nodiscard]] Gcra charged_beyond(const Gcra& bucket, const Limit& limit, std::uint64_t units,
                                  Instant now) noexcept;

// By how many units, rounded up, the debt at `at` is more than a bucket admits.
[[nodiscard]] std::uint64_t excess_of(const Gcra& bucket, const Limit& limit, Instant at) noexcept;

}  // namespace sluice
