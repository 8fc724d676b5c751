#include "control/schema/file_schemas.hpp"
#include "control/schema/schema_parts.hpp"
#include "lib/policy/file_keys/rule_keys.hpp"
#include "lib/policy/limits/limit_algorithms.hpp"
#include "lib/policy/limits/limit_reader.hpp"
#include "lib/policy/rules/notify_terms.hpp"
#include "lib/rules/edge_event.hpp"
#include "lib/rules/rule_set.hpp"

#include <vector>

namespace sluice {
namespace {

using namespace schema;

Json per_words() {
    Json list = Json::array();
    for (const Per per :
         {Per::Packet, Per::Byte, Per::Connection, Per::Request, Per::Query, Per::Handshake}) {
        list.push_back(name_of(per));
    }
    return {{"enum", list}};
}

Json parameter_schema(const Parameter& parameter) {
    return parameter.kind == ParameterKind::Word ? words(parameter.words) : scalar();
}

Json limit_schema() {
    std::vector<Choice> choices;
    for (const LimitAlgorithm& algorithm : limit_algorithms()) {
        std::vector<KeyRow> keys{{"algorithm"}, {"per"}, {"scope"}, {"owner_down"}};
        ValueOf values{{"algorithm", scalar()},
                       {"per", per_words()},
                       {"scope", words(kClusterScopeNames)},
                       {"owner_down", words(kOwnerDownNames)}};
        for (const Parameter& parameter : algorithm.parameters) {
            keys.push_back({parameter.name});
            values.emplace(parameter.name, parameter_schema(parameter));
        }
        choices.push_back({algorithm.name, object(keys, values)});
    }
    return chosen_by("algorithm", choices);
}

const ValueOf& action_values() {
    static const ValueOf values{{"action", scalar()},
                                {"dscp", scalar()},
                                {"pcp", scalar()},
                                {"status", scalar()},
                                {"headers", map_of(scalar())},
                                {"body", scalar()},
                                {"content_type", scalar()},
                                {"tls_fallback", scalar()},
                                {"slip", scalar()},
                                {"x_ratelimit", flag()},
                                {"max_delay", scalar()},
                                {"overflow", scalar()},
                                {"then", scalar()}};
    return values;
}

// Actions of `on_match`: it waits for no limit, and what it lets through has a word of its own.
std::vector<Choice> match_actions() {
    const ValueOf& values = action_values();
    return {{"drop", object(rule_keys::kPlainAction, values)},
            {"tag", object(rule_keys::kTagAction, values)},
            {"reset", object(rule_keys::kPlainAction, values)},
            {"reply", object(rule_keys::kReplyAction, values)},
            {"decoy", object(rule_keys::kDecoyAction, values)},
            {"dns_truncate", object(rule_keys::kDnsTruncateAction, values)}};
}

Json match_schema() {
    return one_of(words(rule_keys::kOnMatchWords), chosen_by("action", match_actions()));
}

Json action_schema() {
    std::vector<Choice> choices = match_actions();
    choices.push_back({"pass", object(rule_keys::kPlainAction, action_values())});
    choices.push_back({"shape", object(rule_keys::kShapeAction, action_values())});
    return chosen_by("action", choices);
}

Json on_full_schema() {
    return one_of(scalar(),
                  object(rule_keys::kOnFull,
                         {{"coarsen", object(rule_keys::kCoarsen, {{"factor", scalar()}})}}));
}

Json ban_schema() {
    ValueOf values = action_values();
    for (const KeyRow& key : rule_keys::kBan) {
        values.emplace(key.name, scalar());
    }
    values["applies_to"] = words(kBanScopeNames);
    values["spoofable"] = words(rule_keys::kSpoofableWords);
    return object(rule_keys::kBan, values);
}

Json numbers_schema(std::span<const KeyRow> keys) {
    ValueOf values;
    for (const KeyRow& key : keys) {
        values.emplace(key.name, scalar());
    }
    return object(keys, values);
}

Json overrides_schema() {
    const Json numbers = numbers_schema(rule_keys::kOverrideNumbers);
    const Json item =
        object(rule_keys::kOverrideItem, {{"key", one_of(scalar(), list_of(scalar()))},
                                          {"limits", map_of(numbers)},
                                          {"exempt", flag()},
                                          {"until", scalar()}});
    return object(rule_keys::kOverrides, {{"file", scalar()}, {"inline", list_of(item)}});
}

Json dynamic_schema() {
    const Json bound = one_of(scalar(), numbers_schema(rule_keys::kDynamicBound));
    return object(rule_keys::kDynamic,
                  {{"source", scalar()}, {"ttl", scalar()}, {"floor", bound}, {"ceiling", bound}});
}

// Numbers of a candidate replace some of a limit's parameters, whichever its algorithm has.
Json candidate_schema() {
    std::vector<KeyRow> keys{{"algorithm"}, {"per"}};
    ValueOf values{{"algorithm", scalar()}, {"per", per_words()}};
    for (const LimitAlgorithm& algorithm : limit_algorithms()) {
        for (const Parameter& parameter : algorithm.parameters) {
            if (values.emplace(parameter.name, scalar()).second) {
                keys.push_back({parameter.name});
            }
        }
    }
    return object(rule_keys::kCandidate,
                  {{"name", scalar()}, {"limits", map_of(object(keys, values))}});
}

Json active_schema() {
    const Json some = one_of(scalar(), list_of(scalar()));
    return object(rule_keys::kActive, {{"days", some}, {"hours", some}, {"zone", scalar()}});
}

Json rule_schema() {
    const Json limits = list_of(one_of(scalar(), ref("limit")));
    const Json key = list_of(scalar());
    ValueOf values{
        {"id", scalar()},
        {"description", scalar()},
        {"mode", words(kModeNames)},
        {"when", scalar()},
        {"active", active_schema()},
        {"on_match", match_schema()},
        {"key", key},
        {"per", per_words()},
        {"limits", limits},
        {"tiers", list_of(object(rule_keys::kTier, {{"key", key}, {"limits", limits}}))},
        {"on_exceed", ref("action")},
        {"on_full", on_full_schema()},
        {"cost", one_of(scalar(), object(rule_keys::kCostByPath,
                                         {{"path", map_of(scalar())}, {"default", scalar()}}))},
        {"scope", words(kClusterScopeNames)},
        {"on_color",
         object(rule_keys::kOnColor,
                {{"green", ref("action")}, {"yellow", ref("action")}, {"red", ref("action")}})},
        {"ban", ban_schema()},
        {"overrides", overrides_schema()},
        {"candidates", list_of(candidate_schema())},
        {"dynamic", dynamic_schema()},
        {"max_unsynced", scalar()},
        {"owner_down", words(kOwnerDownNames)},
        {"events", list_of(words(kEdgeEventNames))},
        {"notify",
         one_of(scalar(), object(rule_keys::kNotify,
                                 {{"to", scalar()}, {"on", list_of(words(kNotifyEventNames))}},
                                 Json::array({"to"})))},
        {"ttl", scalar()}};
    for_each_key(kConfigKeys<RuleTerms>, [&](const auto& row) { add_value(values, row); });
    return object(rule_keys::kRule, values, Json::array({"id"}));
}

Json client_ip_schema() {
    const Json from =
        object(rule_keys::kClientFrom, {{"header", scalar()}, {"hops_from_right", scalar()}});
    return object(rule_keys::kClientIp, {{"trusted_proxies", list_of(scalar())},
                                         {"from", one_of(scalar(), from)},
                                         {"ipv4_prefix", scalar()},
                                         {"ipv6_prefix", scalar()},
                                         {"unwrap", list_of(scalar())}});
}

Json service_schema() {
    const Json networks = one_of(scalar(), list_of(scalar()));
    ValueOf values{{"id", scalar()},
                   {"description", scalar()},
                   {"protocol", words(kServiceProtocolNames)},
                   {"when", scalar()},
                   {"mode", words(kModeNames)},
                   {"upgrades", list_of(words(kUpgradeWords))},
                   {"proxy_protocol", object(rule_keys::kProxyProtocol, {{"from", networks}},
                                             Json::array({"from"}))}};
    for_each_service_key({}, [&](const auto& row, bool) { add_value(values, row); });
    return object(rule_keys::kService, values, Json::array({"id", "protocol", "when"}));
}

Json bypass_schema() {
    return list_of(object(rule_keys::kBypass, {{"when", scalar()},
                                               {"key", list_of(scalar())},
                                               {"limit", one_of(scalar(), ref("limit"))}}));
}

}  // namespace

Json rule_file_schema() {
    const Json list = object(rule_keys::kList, {{"type", scalar()}, {"file", scalar()}});
    const ValueOf values{
        {"version", Json{{"const", 1}}},
        {"defaults", object(rule_keys::kDefaults, {{"mode", words(kModeNames)},
                                                   {"missing_key", words(kMissingKeyNames)},
                                                   {"scope", words(kClusterScopeNames)},
                                                   {"owner_down", words(kOwnerDownNames)},
                                                   {"on_full", on_full_schema()}})},
        {"limits", map_of(ref("limit"))},
        {"rules", list_of(ref("rule"))},
        {"data", object(rule_keys::kData,
                        {{"country_db", scalar()}, {"asn_db", scalar()}, {"lists", map_of(list)}})},
        {"client_ip", client_ip_schema()},
        {"bypass", bypass_schema()},
        {"services", list_of(service_schema())}};
    Json schema{{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                {"title", "A rule file of Sluice"}};
    schema.update(object(rule_keys::kTop, values, Json::array({"version"})));
    schema["$defs"] = {
        {"limit", limit_schema()}, {"action", action_schema()}, {"rule", rule_schema()}};
    return schema;
}

}  // namespace sluice
