#pragma once
#include "control/cli/simulate/simulate_options.hpp"
#include "control/simulation/course.hpp"
#include "lib/base/result.hpp"

namespace sluice {

// How the simulation runs, from the options. Errors: BadSyntax, OutOfRange.
[[nodiscard]] Result<Course> read_course(const SimulateOptions& options);

}  // namespace sluice
