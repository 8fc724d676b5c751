#pragma once
#include "lib/base/result.hpp"
#include "lib/rules/box_config.hpp"

#include <string>

namespace sluice {

// Folders of pinned programs and maps, so that they outlive the process: one for each state
// directory, in it one for each pair.
[[nodiscard]] std::string pins_of_box(const BoxConfig& box);
[[nodiscard]] std::string pins_of_pair(const BoxConfig& box, const std::string& pair);

// An Error: they would not outlive the process there.
[[nodiscard]] Result<Done> make_pins_folder(const BoxConfig& box, const std::string& folder);

// Removes what is pinned under it, and so the programs, which leave their interfaces by it.
[[nodiscard]] Result<Done> remove_pins(const BoxConfig& box);

}  // namespace sluice
