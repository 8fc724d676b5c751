#include "control/schema/file_schemas.hpp"
#include "control/schema/schema_parts.hpp"
#include "lib/rules/box_config.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {
namespace {

using namespace schema;

template <typename T>
struct ValueSchema {
    static Json make() { return scalar(); }
};
template <>
struct ValueSchema<bool> {
    static Json make() { return flag(); }
};
template <>
struct ValueSchema<Tunnels> {
    static Json make() {
        std::vector<std::string_view> names;
        std::string with_port;
        for (const TunnelRow& row : kTunnels) {
            names.push_back(row.name);
            with_port +=
                row.port == 0 ? "" : (with_port.empty() ? "" : "|") + std::string{row.name};
        }
        return list_of(one_of(
            words(names), Json{{"type", "string"}, {"pattern", "^(" + with_port + "):[0-9]+$"}}));
    }
};
template <typename T>
struct ValueSchema<std::vector<T>> {
    static Json make() { return list_of(ValueSchema<T>::make()); }
};
template <typename T>
struct ValueSchema<std::optional<T>> : ValueSchema<T> {};

template <typename... Rows>
void add_properties(Json& properties, const std::tuple<Rows...>& rows);

template <typename... Rows>
Json map_schema(const std::tuple<Rows...>& rows) {
    Json properties = Json::object();
    add_properties(properties, rows);
    return {
        {"type", "object"}, {"additionalProperties", false}, {"properties", std::move(properties)}};
}
template <HasConfigKeys Options>
struct ValueSchema<Options> {
    static Json make() { return map_schema(kConfigKeys<Options>); }
};

template <typename Options, typename Value, typename Form>
void add_property(Json& properties, const ConfigKey<Options, Value, Form>& key) {
    properties[std::string{key.name}] = ValueSchema<Value>::make();
}
template <typename Options, typename Part>
void add_property(Json& properties, const ConfigKey<Options, Part, form::Inline>&) {
    add_properties(properties, kConfigKeys<Part>);
}
template <typename Rows>
void add_property(Json& properties, const ConfigSection<Rows>& section) {
    properties[std::string{section.name}] = map_schema(section.rows);
}
void add_property(Json& properties, const BareKey& key) {
    properties[std::string{key.name}] =
        key.built ? scalar() : Json{{"type", "object"}, {"description", "not enforced yet"}};
}

template <typename... Rows>
void add_properties(Json& properties, const std::tuple<Rows...>& rows) {
    for_each_key(rows, [&](const auto& row) { add_property(properties, row); });
}

}  // namespace

Json box_file_schema() {
    Json schema{{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                {"title", "sluice.yaml, the box"}};
    schema.update(map_schema(kConfigKeys<BoxConfig>));
    schema["required"] = Json::array({"version"});
    Json& properties = schema["properties"];
    properties["version"] = Json{{"const", 1}};
    properties["on_no_rules"] = words(kOnNoRulesNames);
    properties["api"] = map_schema(kConfigKeys<ApiOptions>);
    properties["api"]["required"] = Json::array({"listen", "token_file"});
    properties["web"] = map_schema(kConfigKeys<WebOptions>);
    properties["web"]["required"] = Json::array({"listen"});
    properties["cluster"]["required"] = Json::array({"name", "node", "size", "secret_file"});
    Json webhook = map_schema(kConfigKeys<Webhook>);
    webhook["required"] = Json::array({"url", "secret_file"});
    properties["notify"] = map_of(std::move(webhook));
    Json tenant = map_schema(kConfigKeys<TenantOptions>);
    tenant["required"] = Json::array({"name", "networks", "table_share"});
    properties["tenants"] = list_of(std::move(tenant));
    return schema;
}

}  // namespace sluice
