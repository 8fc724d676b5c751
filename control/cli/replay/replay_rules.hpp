#pragma once
#include "lib/policy/compile.hpp"
#include "lib/rules/load/loaded_rules.hpp"

#include <vector>

namespace sluice {

// Compiled rules for the worker threads of `replay`, and the summaries its report prints.
struct ReplayRules {
    std::vector<RuleSummary> summaries;    // all of the file, those that are off too
    std::vector<ServiceSummary> services;  // likewise
    ClientView client;                     // what client.ip is
    LoadedRules loaded;                    // without those that are off
};

}  // namespace sluice
