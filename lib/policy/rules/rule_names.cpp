#include "lib/policy/rules/rule_names.hpp"

#include "lib/policy/yaml/map_reader.hpp"

namespace sluice {

void RuleNames::add(const YamlNode& node, const Rule& rule, Problems& problems) {
    limit_count_ += rule.limits.size() + rule.ban.boxes.size();
    if (rule.id.empty()) {
        return;
    }
    const Position at =
        node.is_map() && value_of(node, "id") != nullptr ? value_of(node, "id")->at : node.at;
    const auto [first, is_new] = ids_.emplace(rule.id, at);
    if (!is_new) {
        problems.error(at, "two rules are called `" + rule.id + "`" +
                               (problems.is_split()
                                    ? "; the first stands at " + problems.place_text(first->second)
                                    : ""));
        return;
    }
    for_each_state(rule, [&](const MeteredLimit& limit) {
        if (!identities_.insert(limit.identity).second) {
            problems.error(node.at,
                           "the names of this rule's limits hash like another's; "
                           "choose another id");
        }
    });
}

}  // namespace sluice
