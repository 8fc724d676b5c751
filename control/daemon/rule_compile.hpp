#pragma once
#include "control/daemon/rules_file.hpp"
#include "lib/policy/compile.hpp"
#include "lib/policy/problem.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace sluice {

// A set as it was compiled; without rules, the problems say why.
struct Compiled {
    std::optional<CompiledRules> rules;
    std::vector<Problem> problems;
};

// As its lives have it: what has ended is off.
[[nodiscard]] Compiled compile(const StoredRules& rules);

// The same at an instant, UTC in seconds: what has ended by then is off, and its life says so.
[[nodiscard]] Compiled compile_at(StoredRules& rules, std::int64_t now);

}  // namespace sluice
