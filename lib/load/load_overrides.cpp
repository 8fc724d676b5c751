#include "lib/load/load_overrides.hpp"

#include "lib/rules/network_bans.hpp"

#include <map>
#include <memory>
#include <vector>

namespace sluice {
namespace {

using Tables = std::vector<std::shared_ptr<const OverrideTable>>;

Tables tables_of(const Overrides& overrides, const HashSecret& secret) {
    Tables tables;
    for (std::size_t key = 0; key < overrides.keys.size(); ++key) {
        const KeyOverrides& keys = overrides.keys[key];
        const bool has_networks =
            key < overrides.networks.size() && !overrides.networks[key].rows.empty();
        auto networks = has_networks ? std::make_shared<const NetworkBans>(overrides.networks[key],
                                                                           overrides, secret)
                                     : nullptr;
        tables.push_back(keys.rows.empty() && !has_networks
                             ? nullptr
                             : std::make_shared<const OverrideTable>(keys, overrides, secret,
                                                                     std::move(networks)));
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
