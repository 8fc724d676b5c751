#pragma once
#include "lib/load/loaded_rules.hpp"
#include "lib/policy/compile.hpp"

#include <vector>

namespace sluice {

// Rules for the workers of a replay, and what is said of them to people.
struct ReplayRules {
    std::vector<RuleSummary> summaries;  // all of the file, those that are off too
    ClientView client;                   // what client.ip is
    LoadedRules loaded;                  // without those that are off
};

}  // namespace sluice
