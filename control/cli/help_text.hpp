#pragma once
#include <string>
#include <string_view>

namespace sluice {

// The text of --help, no line longer than 80 characters: what is too long goes on below where its
// explanation began.
[[nodiscard]] std::string folded_help(std::string_view help);

}  // namespace sluice
