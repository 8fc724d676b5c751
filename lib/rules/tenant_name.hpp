#pragma once
#include "lib/base/ascii.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

// Tenants: customers of the box, each with rules of its own. In the set in force a tenant's rule is
// called `TENANT:ID`. An operator's id has no `:` (is_rule_id()), so that neither can take a name
// of the other. A candidate of a tenant's rule is `TENANT:ID.NAME`.
namespace sluice {

inline constexpr char kTenantSeparator = ':';
inline constexpr std::size_t kMaxTenantName = 32;

// True if a tenant may be called so: a small letter, then small letters, digits and `-`.
[[nodiscard]] constexpr bool is_tenant_name(std::string_view name) noexcept {
    const auto good = [](char c) { return is_ascii_lower(c) || is_ascii_digit(c) || c == '-'; };
    return !name.empty() && name.size() <= kMaxTenantName && is_ascii_lower(name.front()) &&
           std::all_of(name.begin(), name.end(), good);
}

// The tenant whose rule it is; empty: the operator's.
[[nodiscard]] constexpr std::string_view tenant_of(std::string_view rule_id) noexcept {
    const std::size_t end = rule_id.find(kTenantSeparator);
    return end == std::string_view::npos ? std::string_view{} : rule_id.substr(0, end);
}

// The id as its owner writes it.
[[nodiscard]] constexpr std::string_view own_id(std::string_view rule_id) noexcept {
    const std::size_t end = rule_id.find(kTenantSeparator);
    return end == std::string_view::npos ? rule_id : rule_id.substr(end + 1);
}

// The id in the set in force; `tenant` empty: the operator's.
[[nodiscard]] inline std::string joint_id(std::string_view tenant, std::string_view own) {
    std::string id{tenant};
    if (!tenant.empty()) {
        id += kTenantSeparator;
    }
    return id += own;
}

}  // namespace sluice
