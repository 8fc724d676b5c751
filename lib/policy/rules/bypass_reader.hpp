#pragma once
#include "lib/policy/rules/rule_reader.hpp"

#include <vector>

namespace sluice {

// Budgets of `bypass`, in the order of the file: rules with OnMatch::Bypass, called `bypass.1`,
// `bypass.2`, ..., names that no rule of the file can have. Each with the node it was read from.
struct ReadBypass {
    const YamlNode* node = nullptr;
    ReadRule rule;
};

[[nodiscard]] std::vector<ReadBypass> read_bypass(const YamlNode& bypass, const FileContext& file);

}  // namespace sluice
