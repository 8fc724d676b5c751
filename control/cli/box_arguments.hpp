#pragma once
#include "lib/base/result.hpp"
#include "lib/policy/box/box.hpp"

#include <string>
#include <vector>

namespace sluice {

// The arguments of sluice-dataplane that mean what the box's file says. An Error names what cannot
// stand on a command line.
[[nodiscard]] Result<std::vector<std::string>> box_arguments(const Box& box);

}  // namespace sluice
