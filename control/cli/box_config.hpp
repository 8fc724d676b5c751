#pragma once
#include "lib/rules/box_config.hpp"

#include <optional>
#include <string>

namespace sluice {

// sluice.yaml, compiled; nullopt: it was refused, and standard error says why.
[[nodiscard]] std::optional<BoxConfig> read_box_file(const std::string& path);

}  // namespace sluice
