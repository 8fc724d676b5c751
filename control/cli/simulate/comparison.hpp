#pragma once
#include "control/simulation/engine.hpp"

#include <string>
#include <vector>

namespace sluice {

struct SimulatedLimit {
    std::string name;
    AnyLimit limit;
};

// Every algorithm with the same limit, `count` (1000) in a `window` (1s): as count, or as rate and
// burst. Colour meters share it out between their buckets, so that green and yellow together have
// that rate and burst. Errors: as read_limit_words().
[[nodiscard]] Result<std::vector<SimulatedLimit>> compared_limits(const SimulateOptions& options,
                                                                  Per per);

// Undisturbed, and with the stalls given; without any, of 1 s at 4 s and at 6 s.
[[nodiscard]] std::vector<Course> compared_courses(const Course& course);

}  // namespace sluice
