#pragma once
#include "lib/policy/compile.hpp"
#include "lib/policy/problems/problem.hpp"
#include "lib/rules/box_config.hpp"

#include <optional>
#include <string>

namespace sluice {

// sluice.yaml, compiled: what passes find_fault(). Strict, like the rule file: unknown and
// duplicate keys, wrong types and bare numbers are errors with line and column; what is not built
// yet is `not enforced yet` (warning or error by `purpose`).
[[nodiscard]] std::optional<BoxConfig> read_box(const RuleText& source, Purpose purpose,
                                                Problems& problems);

// The files that `cluster` names, which are relative to `config`, by paths that hold wherever that
// path does.
void resolve_files(const std::string& config, ClusterOptions& cluster);

}  // namespace sluice
