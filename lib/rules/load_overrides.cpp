#include "lib/rules/load_overrides.hpp"

namespace sluice {

void load_overrides(RuleSet& set, const HashSecret& secret) {
    for (Rule& rule : set.rules) {
        rule.override_tables.clear();
        for (MeteredLimit& limit : rule.limits) {
            limit.overridden = rule.overrides != nullptr;
        }
        if (rule.overrides == nullptr) {
            continue;
        }
        for (const KeyOverrides& keys : rule.overrides->keys) {
            rule.override_tables.push_back(
                keys.rows.empty()
                    ? nullptr
                    : std::make_shared<const OverrideTable>(keys, *rule.overrides, secret));
        }
    }
}

}  // namespace sluice
