#pragma once
#include "control/daemon/rule_change.hpp"

#include <chrono>
#include <string>

namespace sluice {

// Prometheus text format 0.0.4: how old the files of lists and databases are that the rules in
// force read. A file that is away has no age.
[[nodiscard]] std::string list_metrics(const RuleView& rules,
                                       std::chrono::system_clock::time_point now);

}  // namespace sluice
