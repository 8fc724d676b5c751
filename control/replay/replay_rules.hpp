#pragma once
#include "lib/base/result.hpp"
#include "lib/policy/compile.hpp"
#include "lib/rules/load/loaded_rules.hpp"

#include <vector>

namespace sluice {

struct ReplaySetup;

// Compiled rules for the workers of a replay, and the summaries that its report prints.
struct ReplayRules {
    std::vector<RuleSummary> summaries;    // all of the file, those that are off too
    std::vector<ServiceSummary> services;  // likewise
    ClientView client;                     // what client.ip is
    LoadedRules loaded;                    // without those that are off
};

// Compiled rules, ready to run by so many workers.
[[nodiscard]] Result<ReplayRules> ready_to_run(CompiledRules compiled, const ReplaySetup& setup);

}  // namespace sluice
