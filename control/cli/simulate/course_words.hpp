#pragma once
#include "control/cli/simulate/engine.hpp"

namespace sluice {

// How the simulation runs, from the options. Errors: BadSyntax, OutOfRange.
[[nodiscard]] Result<Course> read_course(const SimulateOptions& options);

}  // namespace sluice
