#pragma once
#include <string>
#include <string_view>

namespace sluice {

// An addition to an error about a port that was written as a word: the number of that service, or
// of the one with the nearest name. Empty: no name is near.
[[nodiscard]] std::string number_of_port_word(std::string_view word);

}  // namespace sluice
