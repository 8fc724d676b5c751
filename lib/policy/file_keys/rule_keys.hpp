#pragma once
#include "lib/policy/yaml/map_reader.hpp"

#include <array>
#include <string_view>

// The keys of each map of a rule file: what its readers know, and the schema for editors says.
namespace sluice::rule_keys {

inline constexpr auto kTop = std::to_array<KeyRow>({{"version"},
                                                    {"defaults"},
                                                    {"limits"},
                                                    {"rules"},
                                                    {"data"},
                                                    {"client_ip"},
                                                    {"bypass"},
                                                    {"services"}});
inline constexpr auto kData = std::to_array<KeyRow>({{"country_db"}, {"asn_db"}, {"lists"}});
inline constexpr auto kRule = std::to_array<KeyRow>(
    {{"id"},          {"description"}, {"mode"},         {"when"},       {"active"},
     {"on_match"},    {"key"},         {"per"},          {"limits"},     {"tiers"},
     {"on_exceed"},   {"missing_key"}, {"on_full"},      {"cost"},       {"rejected_spend"},
     {"table_share"}, {"scope"},       {"on_color"},     {"ban"},        {"overrides"},
     {"candidates"},  {"dynamic"},     {"max_unsynced"}, {"owner_down"}, {"events"},
     {"heatmap"},     {"notify"},      {"ttl"}});
inline constexpr auto kActive = std::to_array<KeyRow>({{"days"}, {"hours"}, {"zone"}});
inline constexpr auto kOnColor = std::to_array<KeyRow>({{"green"}, {"yellow"}, {"red"}});
inline constexpr auto kDefaults =
    std::to_array<KeyRow>({{"mode"}, {"missing_key"}, {"on_full"}, {"scope"}, {"owner_down"}});
inline constexpr auto kBan = std::to_array<KeyRow>({{"after"},
                                                    {"within"},
                                                    {"for"},
                                                    {"applies_to"},
                                                    {"spoofable"},
                                                    {"action"},
                                                    {"dscp"},
                                                    {"pcp"},
                                                    {"status"},
                                                    {"headers"},
                                                    {"body"},
                                                    {"content_type"},
                                                    {"tls_fallback"},
                                                    {"x_ratelimit"},
                                                    {"slip"},
                                                    {"then"}});
inline constexpr auto kPlainAction = std::to_array<KeyRow>({{"action"}});
inline constexpr auto kTagAction = std::to_array<KeyRow>({{"action"}, {"dscp"}, {"pcp"}});
inline constexpr auto kReplyAction = std::to_array<KeyRow>({{"action"},
                                                            {"status"},
                                                            {"headers"},
                                                            {"body"},
                                                            {"content_type"},
                                                            {"tls_fallback"},
                                                            {"slip"},
                                                            {"x_ratelimit"}});
inline constexpr auto kDecoyAction =
    std::to_array<KeyRow>({{"action"}, {"status"}, {"body"}, {"content_type"}, {"slip"}});
inline constexpr auto kShapeAction =
    std::to_array<KeyRow>({{"action"}, {"max_delay"}, {"overflow"}});
inline constexpr auto kDnsTruncateAction = std::to_array<KeyRow>({{"action"}, {"slip"}, {"then"}});
inline constexpr auto kNotify = std::to_array<KeyRow>({{"to"}, {"on"}});
inline constexpr auto kTier = std::to_array<KeyRow>({{"key"}, {"limits"}});
inline constexpr auto kDynamic =
    std::to_array<KeyRow>({{"source"}, {"ttl"}, {"floor"}, {"ceiling"}});
inline constexpr auto kDynamicBound =
    std::to_array<KeyRow>({{"rate"}, {"burst"}, {"queue"}, {"count"}});
inline constexpr auto kOnFull = std::to_array<KeyRow>({{"coarsen"}});
inline constexpr auto kCoarsen = std::to_array<KeyRow>({{"factor"}});
inline constexpr auto kBypass = std::to_array<KeyRow>({{"when"}, {"key"}, {"limit"}});
inline constexpr auto kService = std::to_array<KeyRow>({{"id"},
                                                        {"description"},
                                                        {"protocol"},
                                                        {"when"},
                                                        {"mode"},
                                                        {"on_unreadable"},
                                                        {"midstream"},
                                                        {"checksums"},
                                                        {"upgrades"},
                                                        {"h2c"},
                                                        {"path"},
                                                        {"min_ttl"},
                                                        {"proxy_protocol"}});
inline constexpr auto kProxyProtocol = std::to_array<KeyRow>({{"from"}});
inline constexpr auto kCandidate = std::to_array<KeyRow>({{"name"}, {"limits"}});
inline constexpr auto kCostByPath = std::to_array<KeyRow>({{"path"}, {"default"}});
inline constexpr auto kOverrides = std::to_array<KeyRow>({{"file"}, {"inline"}});
inline constexpr auto kOverrideItem =
    std::to_array<KeyRow>({{"key"}, {"limits"}, {"exempt"}, {"until"}});
inline constexpr auto kOverrideNumbers =
    std::to_array<KeyRow>({{"rate"}, {"burst"}, {"queue"}, {"count"}});
inline constexpr auto kList = std::to_array<KeyRow>({{"type"}, {"file"}});
inline constexpr auto kClientFrom = std::to_array<KeyRow>({{"header"}, {"hops_from_right"}});
inline constexpr auto kClientIp = std::to_array<KeyRow>(
    {{"trusted_proxies"}, {"from"}, {"ipv4_prefix"}, {"ipv6_prefix"}, {"unwrap"}});
inline constexpr auto kOnMatchWords = std::to_array<std::string_view>({"drop", "allow"});
// Tools of YAML 1.1 write true for yes.
inline constexpr auto kSpoofableWords =
    std::to_array<std::string_view>({"no", "yes", "false", "true"});

}  // namespace sluice::rule_keys
