#pragma once
#include "lib/meter/gcra.hpp"

#include <cstdint>

// Arithmetic over buckets that several workers charge: a debt may be longer than the burst.
namespace sluice {

// Whether `a` is in debt for longer than `b`, both under the same numbers.
[[nodiscard]] inline bool owes_more(const Gcra& a, const Gcra& b) noexcept {
    return a.fresh_from > b.fresh_from || (a.fresh_from == b.fresh_from && a.below < b.below);
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
