#pragma once
#include "lib/base/units.hpp"
#include "lib/peer/merge/account.hpp"
#include "lib/peer/merge/bucket_state.hpp"

#include <cstdint>

// What workers tell each other about an account: amounts to its owner, totals back.
namespace sluice {

struct alignas(64) Delta {
    Account account;
    std::uint32_t units = 0;
    std::uint32_t record = 0;  // of the sender
    union {
        Instant at{};        // of a bucket: not before the last charge of it
        std::int64_t epoch;  // of windows: the one that it was charged in
    };
    BucketState held;  // the sender's copy, which contains it
};
static_assert(sizeof(Delta) == 64);

// Says that the owner has applied an amount and that others have spent too, so that the sender's
// copy owes less than the total. An amount that is done with and has no answer is contained in what
// the sender holds already.
struct alignas(32) Total {
    enum class Kind : std::uint8_t {
        Applied,  // here is the total
        Refresh,  // of sub-windows, before it: here is the total, and what it is made of follows
        Earlier,  // so much of it was spent in an earlier sub-window
        Later,    // the owner had no place for it, or does not know the limit yet: not applied
    };
    std::uint64_t number = 0;  // of the amount in its ring
    Kind kind = Kind::Applied;
    BucketState state;
    SubWindow earlier;  // of the others that are not Earlier: the newest
};
static_assert(sizeof(Total) == 64);

}  // namespace sluice
