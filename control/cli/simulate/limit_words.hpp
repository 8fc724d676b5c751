#pragma once
#include "control/cli/simulate/simulate_options.hpp"
#include "lib/base/result.hpp"
#include "lib/bucket/meter/any_limit.hpp"
#include "lib/rules/rule_set.hpp"

#include <string_view>
#include <vector>

namespace sluice {

// Algorithms that are simulated.
[[nodiscard]] std::vector<std::string_view> algorithm_names();

// Every word that a limit may have.
[[nodiscard]] std::vector<std::string_view> all_limit_words();

// A limit from the words of the rule language, read as rule files are. Errors: BadSyntax (unknown
// algorithm, a parameter that it lacks or does not have, no number), OutOfRange (does not fit).
[[nodiscard]] Result<AnyLimit> read_limit_words(std::string_view algorithm, const LimitWords& words,
                                                Per per);

}  // namespace sluice
