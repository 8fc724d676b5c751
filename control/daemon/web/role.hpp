#pragma once
#include "lib/rules/tenant_name.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sluice {

// Roles, each with all that those before it may do. View sees no payload and no trace; Operate
// bans, changes single keys, takes a rule down to monitor and confirms; Admin does everything else.
// A Tenant is a customer of the box. It stands before all of them, so that no call of theirs is
// its: what it may do is a column of its own in the table of routes.
enum class Role : std::uint8_t { None, Tenant, View, Operate, Admin };
inline constexpr auto kRoleNames =
    std::to_array<std::string_view>({"none", "tenant", "view", "operate", "admin"});

[[nodiscard]] constexpr std::string_view name_of(Role role) noexcept {
    return kRoleNames[static_cast<std::size_t>(role)];
}

// nullopt: nobody can be given a role of that name alone.
[[nodiscard]] constexpr std::optional<Role> role_named(std::string_view name) noexcept {
    const auto found = std::find(kRoleNames.begin() + 2, kRoleNames.end(), name);
    return found == kRoleNames.end() ? std::nullopt
                                     : std::optional{static_cast<Role>(found - kRoleNames.begin())};
}

// A role as somebody is given it: `view`, `operate`, `admin`, or `tenant:NAME`.
struct AssignedRole {
    Role role = Role::View;
    std::string tenant{};  // empty: of no tenant

    bool operator==(const AssignedRole&) const = default;
};
inline constexpr std::string_view kTenantRole = "tenant:";

[[nodiscard]] inline std::string text_of(const AssignedRole& assigned) {
    return assigned.role == Role::Tenant ? std::string{kTenantRole} + assigned.tenant
                                         : std::string{name_of(assigned.role)};
}

// nullopt: nobody can be given that.
[[nodiscard]] inline std::optional<AssignedRole> read_assigned_role(std::string_view text) {
    if (!text.starts_with(kTenantRole)) {
        const std::optional<Role> role = role_named(text);
        return role ? std::optional{AssignedRole{.role = *role}} : std::nullopt;
    }
    const std::string_view tenant = text.substr(kTenantRole.size());
    return is_tenant_name(tenant)
               ? std::optional{AssignedRole{.role = Role::Tenant, .tenant = std::string{tenant}}}
               : std::nullopt;
}
inline constexpr std::string_view kRolesThereAre = "view, operate, admin or tenant:NAME";

}  // namespace sluice
