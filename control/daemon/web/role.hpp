#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace sluice {

// Roles, each with all that those before it may do. View sees no payload and no trace; Operate
// bans, changes single keys, takes a rule down to monitor and confirms; Admin does everything else.
enum class Role : std::uint8_t { None, View, Operate, Admin };
inline constexpr auto kRoleNames =
    std::to_array<std::string_view>({"none", "view", "operate", "admin"});

[[nodiscard]] constexpr std::string_view name_of(Role role) noexcept {
    return kRoleNames[static_cast<std::size_t>(role)];
}

// nullopt: nobody can be given a role of that name.
[[nodiscard]] constexpr std::optional<Role> role_named(std::string_view name) noexcept {
    const auto found = std::find(kRoleNames.begin() + 1, kRoleNames.end(), name);
    return found == kRoleNames.end() ? std::nullopt
                                     : std::optional{static_cast<Role>(found - kRoleNames.begin())};
}

}  // namespace sluice
