#pragma once
#include "lib/policy/compile.hpp"
#include "lib/policy/expression.hpp"
#include "lib/policy/map_reader.hpp"
#include "lib/rules/rule_set.hpp"

#include <map>
#include <set>
#include <string>

namespace sluice {

// `defaults` of the file.
struct RuleDefaults {
    Mode mode = Mode::Monitor;
    MissingKey missing_key = MissingKey::Skip;
    OnFull on_full = OnFull::Closed;
};
[[nodiscard]] RuleDefaults read_defaults(const YamlNode& node, const ReadContext& context);

// The named limits of the file, and which of them a rule has used.
struct NamedLimits {
    std::map<std::string, const YamlNode*> nodes;
    std::set<std::string> used;
};

// What a rule is read with.
struct FileContext {
    std::string_view text;
    Problems& problems;
    Purpose purpose = Purpose::Check;
    const ModeOverrides& modes;
    RuleDefaults defaults;
    NamedLimits& limits;
};

struct ReadRule {
    Rule rule;  // without its condition
    Expression when;
    bool everything = true;  // no `when`
    RuleSummary summary;
};

[[nodiscard]] ReadRule read_rule(const YamlNode& node, const FileContext& file);

}  // namespace sluice
