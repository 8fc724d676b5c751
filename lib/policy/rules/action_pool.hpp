#pragma once
#include "lib/policy/rules/action_reader.hpp"
#include "lib/respond/action.hpp"
#include "lib/rules/rule_set.hpp"

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

namespace sluice {

// The actions of a rule file and the responses that they name, each once, in the order in which
// rules first name them.
class ActionPool {
public:
    [[nodiscard]] ActionIndex add(const ActionText& text) {
        Action action = text.action;
        if (text.response) {
            action.answer.response =
                static_cast<std::uint16_t>(1 + place_of(*text.response, responses_));
        }
        if (text.resets_rest) {
            action.answer.then = add({.action = {.verdict = Verdict::Reset}});
        }
        return static_cast<ActionIndex>(place_of(action, actions_));
    }
    // False: there are more than the indexes of actions can tell apart.
    [[nodiscard]] bool fill(RuleSet& set) && {
        if (actions_.rows.size() > kMaxActions || responses_.rows.size() >= kMaxActions) {
            return false;
        }
        set.actions = std::move(actions_.rows);
        set.responses = std::move(responses_.rows);
        return true;
    }

private:
    template <typename Row>
    struct Table {
        std::vector<Row> rows;
        std::map<Row, std::size_t> places;
    };
    template <typename Row>
    [[nodiscard]] static std::size_t place_of(const Row& row, Table<Row>& table) {
        const auto [found, fresh] = table.places.try_emplace(row, table.rows.size());
        if (fresh) {
            table.rows.push_back(row);
        }
        return found->second;
    }

    Table<Action> actions_{{kPass, kDrop}, {{kPass, kPassAction}, {kDrop, kDropAction}}};
    Table<ResponseSpec> responses_;
};

}  // namespace sluice
