#pragma once
#include "control/daemon/web/role.hpp"

#include <array>
#include <string_view>

namespace sluice {

// Verbs by which the dashboard's page knows its buttons, each with the call that it makes.
struct Verb {
    std::string_view name;
    std::string_view method;
    std::string_view path;              // as the table of routes has it
    std::string_view tenant_path = "";  // likewise, of tenants; empty: the same
};
inline constexpr auto kVerbs = std::to_array<Verb>({
    {"apply", "PUT", "/v1/rules", "/v1/tenants/*/rules"},
    {"check", "POST", "/v1/rules/check", "/v1/tenants/*/check"},
    {"ban", "POST", "/v1/rules/*/bans"},
    {"key", "POST", "/v1/rules/*/key"},
    {"monitor", "PUT", "/v1/rules/*/mode"},
    {"confirm", "POST", "/v1/confirm", "/v1/tenants/*/confirm"},
    {"rollback", "POST", "/v1/rollback", "/v1/tenants/*/rollback"},
    {"panic", "POST", "/v1/panic"},
    {"trace", "POST", "/v1/traces"},
    {"preview", "POST", "/v1/previews"},
    {"explain", "POST", "/v1/explain"},
    {"diff", "POST", "/v1/rules/diff"},
    {"replay", "POST", "/v1/replay"},
    {"merge", "POST", "/v1/merge"},
    {"notify", "POST", "/v1/notify/*/test"},
    {"link", "POST", "/v1/session/link"},
});
// Any other mode than from enforce down to monitor, whose call is the same.
inline constexpr std::string_view kAnyModeVerb = "mode";
inline constexpr Role kAnyModeRole = Role::Admin;

}  // namespace sluice
