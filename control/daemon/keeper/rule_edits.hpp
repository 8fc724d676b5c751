#pragma once
#include "control/daemon/author.hpp"
#include "control/daemon/keeper/live_rules.hpp"
#include "lib/policy/files/rule_edit.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace sluice {

// A change of one rule in the text of the set in force.
struct RuleEdit {
    enum class Kind : std::uint8_t { Add, Replace, Delete };
    Kind kind = Kind::Add;
    std::string id{};    // of the rule; empty for Add: as its text says
    std::string name{};  // of the file that the rule came in
    std::string text{};  // of the rule, in a form of lone_rule.hpp
    RulePlace place{};   // of Add
    std::string into{};  // of Add at the end: the file of the set; empty: the last that has rules
    bool force = false;  // also when no rule is on then
    bool strict = false;
    std::optional<std::chrono::nanoseconds> confirm{};
    std::optional<std::string> in_place_of{};
    Author from{};
};

// Everything else of the text stays byte for byte, and so do the modes, settings and buckets of all
// other rules; a mode that was set for this one at run time ends. It is kept like a file that is
// applied. A set on trial stays on trial, until the same instant unless there is another `confirm`.
[[nodiscard]] RuleChange edit_rule(LiveRules& rules, const RuleEdit& edit);

}  // namespace sluice
