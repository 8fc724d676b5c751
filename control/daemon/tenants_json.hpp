#pragma once
#include "control/daemon/rules_file.hpp"

#include <nlohmann/json_fwd.hpp>

namespace sluice {

// Tenants' rules as a set's file keeps them. tenants_of() throws where an object is of none; names
// that no tenant has are left out.
[[nodiscard]] nlohmann::json tenants_json(const TenantTexts& tenants);
[[nodiscard]] TenantTexts tenants_of(const nlohmann::json& object);

}  // namespace sluice
