#pragma once
#include "control/daemon/api/simulated_ask.hpp"
#include "lib/base/result.hpp"

#include <functional>

namespace sluice {

// Every limit of `ask` under its load, as POST /v1/simulate answers. Errors: BadSyntax, OutOfRange
// (a word of the run), TooMany (arrivals), Busy (`goes_on` has said no).
[[nodiscard]] Result<Json> simulated_json(const SimulatedAsk& ask,
                                          const std::function<bool()>& goes_on);

// Problems as the pages read them: place, severity and text of each.
[[nodiscard]] Json simulation_problems(const std::vector<Problem>& problems);

}  // namespace sluice
