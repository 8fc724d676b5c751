#pragma once
#include "control/cli/rates.hpp"

#include <string>

namespace sluice {

// For people: what a packet takes of each worker, stage by stage, and how busy it is; since the
// dataplane started, or since the sample before.
[[nodiscard]] std::string cycles_text(const Sample& sample);

}  // namespace sluice
