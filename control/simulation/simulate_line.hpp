#pragma once
#include "control/simulation/run_words.hpp"
#include "lib/policy/limits/lone_limits.hpp"

#include <string>

namespace sluice {

// `sluicectl simulate …`, for a shell: the run of this limit under this load. Each word that the
// load goes by is written out.
[[nodiscard]] std::string simulate_line(const LoneLimit& limit, const RunWords& words);

// The limit on one line, as an item of `limits` has it: `{algorithm: token_bucket, rate: 50/s}`.
[[nodiscard]] std::string limit_yaml(const LoneLimit& limit);

}  // namespace sluice
