#pragma once
#include "lib/base/units.hpp"

#include <cstdint>

// Units that sub-windows have counted, so that those of several workers can be added up.
// Sub-windows are too many to be told one by one: `ever` only grows, so that the difference to what
// is held is what has been spent meanwhile.
namespace sluice {

// Without initial values, so that it can be a member of a union.
struct Tally {
    std::uint64_t sum;   // what counts now
    std::uint64_t ever;  // all units since `born`
    std::int64_t born;   // ns; when the counting began: a key that was forgotten begins anew
};

// Units that were spent at an instant or before.
struct SpentBefore {
    Instant at;
    Units units;
};

// How much a total has that others are to have at least: itself and `more`. `newest` is the latest
// sub-window that it has something in. `anew`: what is held is forgotten for it.
struct TallyTotal {
    Tally total;
    std::uint64_t more;
    std::uint64_t newest;
    bool anew;
};

// The units of one sub-window, or of several up to it.
struct SubWindow {
    std::uint64_t slot = 0;
    std::uint64_t units = 0;
};

}  // namespace sluice
