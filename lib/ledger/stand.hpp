#pragma once
#include "lib/ledger/account.hpp"
#include "lib/meter/counted_windows.hpp"
#include "lib/meter/gcra.hpp"

#include <cstdint>

// How a bucket stands that several workers charge, and the arithmetic over it: a debt may be longer
// than the burst, and a count more than the limit's.
namespace sluice {

struct Stand {
    union {
        Gcra bucket{};
        WindowCounts counts;  // if `lasts` is not 0
    };
    std::uint8_t version = 0;  // of the numbers: instants mean nothing without them, counts do
    std::uint8_t lasts = 0;    // windows in which a unit counts
};

// Beyond a total: what of it is of its current window, or of a bucket, and of the window before.
struct More {
    std::uint64_t current = 0;
    std::uint64_t previous = 0;
};

// How the bucket in a cell stands; of a token or leaky bucket, or of windows that are counted.
[[nodiscard]] Stand stand_of(const Cell& cell, const AnyLimit& limit, const LinePool& pool,
                             Now now) noexcept;

// Whether the window of an account's turn counts no more.
[[nodiscard]] inline bool is_late(const Account& account, const Stand& copy) noexcept {
    return copy.lasts != 0 &&
           is_over(epoch_of(account.turn, copy.counts.epoch), copy.counts, copy.lasts);
}

// Whether `a` is in debt for longer than `b`, both under the same numbers.
[[nodiscard]] inline bool owes_more(const Gcra& a, const Gcra& b) noexcept {
    return a.fresh_from > b.fresh_from || (a.fresh_from == b.fresh_from && a.below < b.below);
}

// Whether a total has anything that a copy has not, or cannot be compared with it.
[[nodiscard]] inline bool owes_more(const Stand& total, const Stand& copy) noexcept {
    if (total.lasts != copy.lasts) {
        return true;
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
// buckets, which is more than an honest ledger can bring about (README.md).
[[nodiscard]] Gcra charged(const Gcra& bucket, const Limit& limit, const Spent& spent,
                           Instant now) noexcept;

// By how many units, rounded up, the debt at `at` is more than a bucket admits.
[[nodiscard]] std::uint64_t excess_of(const Gcra& bucket, const Limit& limit, Instant at) noexcept;

}  // namespace sluice
