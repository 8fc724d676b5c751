#pragma once
#include "control/cli/completion.hpp"

#include <string>
#include <vector>

namespace sluice {

// Words of a command that it does not take, in their order, at least one; an empty command: none
// was given. "no command 'stat'; did you mean `stats`?", and of options likewise.
[[nodiscard]] std::string not_expected(const std::string& command,
                                       const std::vector<std::string>& more,
                                       const std::vector<CompletionWord>& words);

}  // namespace sluice
