#pragma once
#include "control/json.hpp"
#include "lib/policy/compile.hpp"

#include <vector>

namespace sluice {

// Lists and databases that a set of rules uses, as `check` shows them.
void print_lists(const std::vector<ListSummary>& lists);
void print_databases(const std::vector<DatabaseSummary>& databases);
[[nodiscard]] Json lists_json(const std::vector<ListSummary>& lists);
[[nodiscard]] Json databases_json(const std::vector<DatabaseSummary>& databases);

}  // namespace sluice
