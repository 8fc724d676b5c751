#pragma once
#include "lib/base/result.hpp"
#include "lib/rules/box_config.hpp"

#include <string>

namespace sluice {

// sluice.yaml, compiled by `sluicectl box-config` in a process of its own: the packet process
// contains no YAML reader, and holds to no byte of the message before it has been checked.
[[nodiscard]] Result<BoxConfig> read_box_file(const std::string& file);

}  // namespace sluice
