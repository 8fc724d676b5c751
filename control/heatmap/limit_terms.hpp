#pragma once
#include "lib/policy/compile.hpp"

#include <string>
#include <string_view>

namespace sluice {

// Facts of a limit that its heat map goes by.
struct HeatTerms {
    std::string text;        // "300 requests per minute, 50 at once"
    std::string_view unit;   // "requests"
    double at_once = 0;      // units that a fresh group may have at one instant
    double each_second = 0;  // that come back from then on
    double window_s = 0;     // in which `most` is the most
    double most = 0;
    unsigned step = 10;  // of the columns that fit its window

    // The most that one group is admitted in a column, with all of its burst.
    [[nodiscard]] double most_in(unsigned step_s) const noexcept;
    // The part of a group that has used up its burst, column after column; one unit at least.
    [[nodiscard]] double steady_in(unsigned step_s) const noexcept;
    // The row of the first map in which that lies.
    [[nodiscard]] std::size_t limit_bucket(unsigned step_s) const noexcept;
};

[[nodiscard]] HeatTerms heat_terms(const LimitSummary& limit);

}  // namespace sluice
