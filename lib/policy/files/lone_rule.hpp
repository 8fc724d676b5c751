#pragma once
#include "lib/policy/problems/problem.hpp"
#include "lib/policy/yaml/yaml_tree.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

// One rule by itself, as it is handed over to be put among others: a map, a list of one, or a rule
// file that has `version` and one rule.
struct LoneRule {
    std::string id;
    YamlNode tree;
    std::vector<std::string> comments;  // that stand above it, without their indentation
    std::vector<std::string> lines;     // of the rule, as they stand in its text
    std::uint32_t line = 1;             // of the first of them
    std::uint32_t column = 1;           // of its keys
};

// nullopt: it is none, and the problems say why.
[[nodiscard]] std::optional<LoneRule> read_lone_rule(std::string_view text, Problems& problems);

}  // namespace sluice
