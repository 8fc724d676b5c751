#pragma once
#include "control/json.hpp"
#include "lib/base/config_key.hpp"
#include "lib/policy/yaml/map_reader.hpp"

#include <map>
#include <span>
#include <string_view>

// The pieces that JSON schemas of YAML files are made of. Keys come from the tables that the
// readers go by, so that both know the same ones.
namespace sluice::schema {

using ValueOf = std::map<std::string_view, Json>;

// One value: plain scalars are numbers and words for an editor, and texts for us.
[[nodiscard]] inline Json scalar() {
    return {{"type", Json::array({"string", "number", "boolean"})}};
}
[[nodiscard]] inline Json flag() {
    return {{"type", "boolean"}};
}
[[nodiscard]] inline Json words(std::span<const std::string_view> all) {
    Json list = Json::array();
    for (const std::string_view word : all) {
        list.push_back(word);
        // Readers of YAML 1.1 make a truth value of on and true.
        if (word == "true") {
            list.push_back(true);
        }
    }
    return {{"enum", list}};
}
[[nodiscard]] inline Json list_of(Json item) {
    return {{"type", "array"}, {"items", std::move(item)}};
}
[[nodiscard]] inline Json map_of(Json value) {
    return {{"type", "object"}, {"additionalProperties", std::move(value)}};
}
[[nodiscard]] inline Json one_of(Json a, Json b) {
    return {{"anyOf", Json::array({std::move(a), std::move(b)})}};
}
[[nodiscard]] inline Json ref(std::string_view name) {
    return {{"$ref", "#/$defs/" + std::string{name}}};
}

// A map with these keys and no others. One that has no row in `values` is any value.
[[nodiscard]] inline Json object(std::span<const KeyRow> keys, const ValueOf& values,
                                 Json required = Json::array()) {
    Json properties = Json::object();
    for (const KeyRow& key : keys) {
        const auto value = values.find(key.name);
        Json one = value == values.end() ? Json::object() : value->second;
        if (!key.built) {
            one["description"] = "not enforced yet";
        }
        properties[std::string{key.name}] = std::move(one);
    }
    Json made{
        {"type", "object"}, {"additionalProperties", false}, {"properties", std::move(properties)}};
    if (!required.empty()) {
        made["required"] = std::move(required);
    }
    return made;
}

// The value of a key that has a row, where it has no schema yet.
template <typename Options, typename Value, typename Form>
void add_value(ValueOf& values, const ConfigKey<Options, Value, Form>& key) {
    if constexpr (std::is_same_v<Form, form::Word>) {
        values.emplace(key.name, words(key.form.words));
    } else {
        values.emplace(key.name, std::is_same_v<Form, form::Flag> ? flag() : scalar());
    }
}
inline void add_value(ValueOf&, const BareKey&) {}

// A map whose word under `key` says which of the others it is.
struct Choice {
    std::string_view word;
    Json object;
};
[[nodiscard]] inline Json chosen_by(std::string_view key, std::span<const Choice> choices) {
    Json all = Json::array();
    Json names = Json::array();
    const std::string name{key};
    for (const Choice& choice : choices) {
        names.push_back(choice.word);
        all.push_back({{"if",
                        {{"properties", {{name, {{"const", choice.word}}}}},
                         {"required", Json::array({name})}}},
                       {"then", choice.object}});
    }
    return {{"type", "object"},
            {"required", Json::array({name})},
            {"properties", {{name, {{"enum", std::move(names)}}}}},
            {"allOf", std::move(all)}};
}

}  // namespace sluice::schema
