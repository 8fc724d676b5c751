#pragma once
#include "control/json.hpp"

#include <string>
#include <vector>

namespace sluice {

// A choice of rules and services of `GET /v1/stats`.
struct StatsChoice {
    std::vector<std::string> rules{};  // ids of rules and services; none: all
    bool nonzero = false;              // without those that have matched nothing
    bool rules_alone = false;          // chosen by id, nothing but these is to be shown
};

// Takes the others out; `rules_left_out` says how many had matched nothing. -> the first id that no
// rule and no service has; empty: each has one.
[[nodiscard]] std::string choose_rules(Json& stats, const StatsChoice& choice);

}  // namespace sluice
