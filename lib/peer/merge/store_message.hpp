#pragma once
#include "lib/peer/merge/account.hpp"

#include <cstdint>

// Messages of a worker and its cluster's store about an account that the worker owns:
// amounts there, levels back. Units, epochs and counts alone: instants are each side's own.
namespace sluice {

// The numbers by which the store pays back or forgets units; all zeroes: of no limit that it can
// count.
struct StoreNumbers {
    std::uint64_t period = 0;  // of a bucket: ns in which `parts` units are paid back; of windows:
                               // the length of one, in us
    std::uint64_t parts = 0;   // of a bucket; of windows: us by which theirs begin after UTC's
    std::uint8_t lasts = 0;    // windows in which a unit counts; 0: a bucket; kGauge

    // Connections that are open; its period is the lease in ns (ConnectionGauges).
    static constexpr std::uint8_t kGauge = 5;

    [[nodiscard]] bool are_known() const noexcept { return period != 0; }
};

// A mark of gauges in `record`: no record has such a number.
inline constexpr std::uint32_t kGaugeRecord = std::uint32_t{1} << 31;

struct alignas(64) StoreAmount {
    enum class Kind : std::uint8_t { Add, Declare };  // as StoreEntryKind has them

    Account account;
    std::uint32_t units = 0;
    std::uint32_t record = 0;  // of the sender
    StoreNumbers numbers;
    std::int64_t epoch = 0;  // of windows: the one that it was charged in
    Kind kind = Kind::Add;
};
static_assert(sizeof(StoreAmount) == 64);

// Of an amount that the store has: how the key stands there, the amount included. Whatever order
// they come in, each settles the one amount that it names.
struct alignas(64) StoreTotal {
    enum class Kind : std::uint8_t {
        Level,  // here it is
        Over,   // the amount's window counts no more: it was let go of
        Ahead,  // likewise, since the window is yet to come by the store's time
        Later,  // the store does not have it and is not about to: it is unsent again
    };
    Account account;
    std::uint32_t units = 0;     // of the amount
    std::uint32_t record = 0;    // likewise
    std::uint64_t current = 0;   // owed, or counted in `epoch`
    std::uint64_t previous = 0;  // counted in the window before
    std::int64_t epoch = 0;
    Kind kind = Kind::Level;
    bool declared = false;  // an answer to a Declare, which has no amount
};
static_assert(sizeof(StoreTotal) == 64);

}  // namespace sluice
