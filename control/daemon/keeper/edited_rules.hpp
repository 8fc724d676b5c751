#pragma once
#include "control/daemon/keeper/rule_edits.hpp"
#include "control/daemon/rules_file.hpp"
#include "lib/policy/files/lone_rule.hpp"

#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace sluice {

// A set whose text has one rule put in, replaced or deleted, and where the rule stands in it.
struct EditedRules {
    StoredRules next;
    std::string file;  // that it stands in, as problems name it
    EditedText lines;  // without its text
};

// `rule`: as the edit's text has it; nullptr: it is deleted. `running`: for what is said of rules
// that cannot be found.
[[nodiscard]] std::variant<EditedRules, Refusal> edited(const StoredRules& now,
                                                        const RuleEdit& edit, const LoneRule* rule,
                                                        const RuleView& running);

// Problems of the rule's lines as those of the file that it came in, which is called `name`.
void show_in_its_file(std::vector<Problem>& problems, const EditedRules& edited,
                      const std::string& name, const LoneRule& rule);

// A change that the text of the rules does not allow as it is written.
[[nodiscard]] Refusal not_in_place(const std::string& what);

// Reads the rule of an edit, which is to be called as the edit says. nullopt: the problems say why.
[[nodiscard]] std::optional<LoneRule> read_edit(const RuleEdit& edit, Problems& problems);

}  // namespace sluice
