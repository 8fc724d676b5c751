#pragma once
#include "control/cli/exit_code.hpp"
#include "control/cli/options.hpp"
#include "control/rule_files.hpp"

#include <map>
#include <memory>
#include <string>

namespace sluice {

using SentLists = std::map<std::string, std::shared_ptr<const std::string>>;

// `--cluster` of apply, confirm, rollback and panic: all boxes of the cluster that sluice.yaml
// names.
ExitCode apply_to_cluster(const Options& options, RuleFiles files, SentLists lists);
ExitCode confirm_cluster(const Options& options);
ExitCode roll_cluster_back(const Options& options);
ExitCode panic_cluster(const Options& options);

}  // namespace sluice
