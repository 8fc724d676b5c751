#pragma once
#include "lib/base/result.hpp"

#include <string>
#include <vector>

namespace sluice {

// The options that `sluicectl box-options FILE` makes of sluice.yaml. The packet process contains
// no YAML reader: that program reads the file, in a process of its own.
[[nodiscard]] Result<std::vector<std::string>> options_from_config(const std::string& file);

}  // namespace sluice
