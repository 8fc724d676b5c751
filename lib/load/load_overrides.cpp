#include "lib/load/load_overrides.hpp"

#include <map>
#include <memory>
#include <vector>

namespace sluice {
namespace {

using Tables = std::vector<std::shared_ptr<const OverrideTable>>;

Tables tables_of(const Overrides& overrides, const HashSecret& secret) {
    Tables tables;
    for (const KeyOverrides& keys : overrides.keys) {
        tables.push_back(keys.rows.empty()
                             ? nullptr
                             : std::make_shared<const OverrideTable>(keys, overrides, secret));
    }
    return tables;
}

}  // namespace

void load_overrides(LoadedSet& set, const HashSecret& secret, const LoadedSet* before) {
    std::map<const Overrides*, const Tables*> known;
    if (before != nullptr) {
        for (const LoadedRule& rule : before->rules) {
            known.emplace(rule.overrides.get(), &rule.override_tables);
        }
    }
    for (LoadedRule& rule : set.rules) {
        for (LoadedLimit& limit : rule.limits) {
            limit.overridden = rule.overrides != nullptr && rule.overrides->have_numbers();
        }
        if (rule.overrides == nullptr) {
            rule.override_tables.clear();
            continue;
        }
        const auto found = known.find(rule.overrides.get());
        rule.override_tables =
            found == known.end() ? tables_of(*rule.overrides, secret) : *found->second;
    }
}

}  // namespace sluice
