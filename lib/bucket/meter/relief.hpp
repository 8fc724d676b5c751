#pragma once
#include "lib/base/units.hpp"

namespace sluice {

// A part of what was used that a bucket owes no longer: at most so many units, and, if `excess`,
// all that is more than a fresh bucket has.
struct Relief {
    Units units;
    bool excess = false;
};
inline constexpr Relief kExcess{.units = Units{0}, .excess = true};

}  // namespace sluice
