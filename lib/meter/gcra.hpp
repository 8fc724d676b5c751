#pragma once
#include "lib/base/units.hpp"
#include "lib/meter/limit.hpp"

#include <cstdint>
#include <optional>

// Generic cell rate algorithm (ITU-T I.371, virtual scheduling), the token bucket seen from the
// other end: instead of tokens it keeps the instant at which the bucket will be full again.
//
//          now            TAT                  TAT - now is the debt: what was taken and has
//   --------|==============|---------> time    not come back yet. A cost c fits if debt + c*T
//            `--- debt ---'                    stays within burst*T.
//
// With T = period / parts ns, the debt is an integer in 1/parts ns: nothing is rounded, nothing
// drifts. Look and charge are separate, so several limits are judged before any is spent.
// Pure arithmetic: no clock, no atomics, no allocation.
namespace sluice {

// Theoretical arrival time, as the first whole ns not before it, so that a look at one word tells
// when the bucket may be forgotten.
struct Gcra {
    Instant fresh_from{};     // TAT rounded up to whole ns
    std::uint32_t below = 0;  // TAT = fresh_from - below/parts ns; below < parts
};

// A full bucket admits exactly `burst` units at one instant. A cost above the burst never fits.
[[nodiscard]] bool admits(const Gcra& bucket, const Limit& limit, Instant now, Units cost) noexcept;

// Takes `cost`, which admits() has just admitted at the same instant.
void charge(Gcra& bucket, const Limit& limit, Instant now, Units cost) noexcept;

// Whole units that would be admitted now.
[[nodiscard]] Units remaining(const Gcra& bucket, const Limit& limit, Instant now) noexcept;

// The least time after which `cost` would be admitted if nothing else came, exact to the ns;
// nullopt: never.
[[nodiscard]] std::optional<Nanoseconds> wait(const Gcra& bucket, const Limit& limit, Instant now,
                                              Units cost) noexcept;

}  // namespace sluice
