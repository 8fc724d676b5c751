#include "control/daemon/operators_part.hpp"

#include "lib/rules/tenant_name.hpp"

namespace sluice {

ModeOverrides operators_modes(ModeOverrides modes) {
    std::erase_if(modes, [](const auto& mode) { return !tenant_of(mode.first).empty(); });
    return modes;
}

KeySettings operators_keys(KeySettings keys) {
    std::erase_if(keys, [](const KeySetting& one) { return !tenant_of(one.rule).empty(); });
    return keys;
}

bool differ_in_tenants_alone(const StoredRules& one, const StoredRules& other) {
    return one.text == other.text && one.slices == other.slices && one.lists == other.lists &&
           one.lives == other.lives && one.tenants == other.tenants &&
           operators_modes(one.modes) == operators_modes(other.modes) &&
           operators_keys(one.keys) == operators_keys(other.keys);
}

}  // namespace sluice
