#pragma once
#include "lib/base/result.hpp"

#include <string>

namespace sluice {

// The whole of a rule or configuration file; refused above 16 MiB.
[[nodiscard]] Result<std::string> read_text_file(const std::string& path);

}  // namespace sluice
