#pragma once
#include "lib/rules/action.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace sluice {

// The actions of a rule file, each once, in the order in which rules first name them. The language
// has fewer than 600 different ones (a DSCP, a priority, or both), so every table fits ActionIndex.
class ActionPool {
public:
    [[nodiscard]] ActionIndex add(const Action& action) {
        const auto found = std::find(table_.begin(), table_.end(), action);
        const auto index = static_cast<ActionIndex>(found - table_.begin());
        if (found == table_.end()) {
            table_.push_back(action);
        }
        return index;
    }
    // RuleSet::actions.
    [[nodiscard]] std::vector<Action> table() && { return std::move(table_); }

private:
    std::vector<Action> table_{kPass, kDrop};
};

}  // namespace sluice
