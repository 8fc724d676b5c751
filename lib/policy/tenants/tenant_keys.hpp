#pragma once
#include "lib/policy/yaml/map_reader.hpp"
#include "lib/rules/tenant_options.hpp"

#include <array>
#include <string_view>

namespace sluice {

// A key of the rule file and whether a tenant may write it. A key that no row allows is refused.
struct TenantKey {
    std::string_view name;
    std::string_view refusal{};  // why it is the operator's; empty: a tenant may say it
};

inline constexpr std::string_view kNoneOfTenants = "acts beyond the tenant's own traffic";
inline constexpr std::string_view kReadsFiles = "reads files of the box";
inline constexpr std::string_view kSharedRoom = "takes room that `table_share` does not bound";

inline constexpr auto kTenantTopKeys = std::to_array<TenantKey>({
    {"version"},
    {"defaults"},
    {"limits"},
    {"rules"},
    {"data", kReadsFiles},
    {"client_ip", "says for the whole box whom it believes"},
    {"bypass", kNoneOfTenants},
    {"services", "says for the whole box what is read as what"},
});
inline constexpr auto kTenantRuleKeys = std::to_array<TenantKey>({
    {"id"},
    {"description"},
    {"mode"},
    {"when"},
    {"active", "takes one of the few schedules of the box"},
    {"on_match"},
    {"key"},
    {"per"},
    {"limits"},
    {"tiers"},
    {"on_exceed"},
    {"missing_key"},
    {"on_full"},
    {"cost"},
    {"rejected_spend"},
    {"table_share"},
    {"scope"},
    {"on_color", "marks packets for the operator's network"},
    {"ban"},
    {"overrides"},
    {"candidates"},
    {"dynamic", "takes numbers by the operator's API"},
    {"max_unsynced", "sets how busy the workers are with each other"},
    {"owner_down", "is for limits that boxes share, which are the operator's"},
    {"events"},
    {"heatmap"},
    {"notify", "calls the operator's webhooks"},
    {"ttl"},
});
inline constexpr auto kTenantOverrideKeys = std::to_array<TenantKey>({
    {"file", kReadsFiles},
    {"inline"},
});
inline constexpr auto kTenantActions = std::to_array<TenantKey>({
    {"drop"},
    {"pass"},
    {"reset"},
    {"reply"},
    {"decoy"},
    {"dns_truncate"},
    {"tag", "marks packets for the operator's network"},
    {"shape", "holds packets in room that all rules share"},
});
inline constexpr auto kTenantAlgorithms = std::to_array<TenantKey>({
    {"token_bucket"},
    {"leaky_bucket"},
    {"fixed_window"},
    {"sliding_window"},
    {"sliding_counters"},
    {"sliding_log", kSharedRoom},
    {"srtcm"},
    {"trtcm"},
    {"concurrency", kSharedRoom},
    {"distinct", kSharedRoom},
});

// Reports all of a tenant's file that is not a tenant's to say, and more rules than it may have.
// What is wrong otherwise is left to those who read the file.
void refuse_operators_keys(const YamlNode& root, const TenantOptions& tenant, Problems& problems);

}  // namespace sluice
