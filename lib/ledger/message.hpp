#pragma once
#include "lib/base/units.hpp"
#include "lib/ledger/account.hpp"
#include "lib/meter/gcra.hpp"

#include <cstdint>

// What workers tell each other about an account: amounts to its owner, totals back.
namespace sluice {

// A bucket, and which numbers it was written under: instants mean nothing without them.
struct Stand {
    Gcra bucket;
    std::uint8_t version = 0;
};

struct alignas(64) Amount {
    Account account;
    std::uint8_t version = 0;  // that `held` was written under
    std::uint32_t units = 0;
    std::uint32_t record = 0;  // of the sender
    Instant at{};              // not before the last charge of it
    Gcra held;                 // the sender's copy, which contains it
};

// Says that the owner has applied an amount and that others have spent too, so that the sender's
// copy owes less than the total. An amount that is done with and has no answer is contained in what
// the sender holds already.
struct alignas(32) Total {
    enum class Kind : std::uint8_t {
        Applied,  // here is the total
        Later,    // the owner had no place for it, or does not know the limit yet: not applied
    };
    std::uint64_t number = 0;  // of the amount in its ring
    Kind kind = Kind::Applied;
    std::uint8_t version = 0;
    Gcra bucket;
};

}  // namespace sluice
