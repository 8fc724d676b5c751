#pragma once
#include "lib/policy/file_keys/option_values.hpp"

#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

// Maps of a file by the rows of their keys (lib/base/config_key.hpp): a value is written to its
// member where its key is there and the value is right. Values in a form of their own have a
// read_own() that is found by its arguments.
namespace sluice {

// The keys of a row.
void add_known(std::vector<KeyRow>& known, const auto& row) {
    known.push_back({row.name});
}
inline void add_known(std::vector<KeyRow>& known, const BareKey& row) {
    known.push_back({row.name, row.built});
}
template <typename Options, typename Part>
void add_known(std::vector<KeyRow>& known, const ConfigKey<Options, Part, form::Inline>&) {
    for_each_key(kConfigKeys<Part>, [&](const auto& row) { add_known(known, row); });
}

// Reports the keys of the map that have no row, and every value that is wrong.
template <typename... Rows>
void read_map(const YamlNode& node, const std::string& what, const std::tuple<Rows...>& rows,
              const ReadContext& context, auto& into) {
    std::vector<KeyRow> known;
    for_each_key(rows, [&](const auto& row) { add_known(known, row); });
    const MapReader map{node, known, context, what};
    if (map.is_map()) {
        for_each_key(rows, [&](const auto& row) { read_key(row, map, context, into); });
    }
}
template <HasConfigKeys Part>
void read_part(const YamlNode& node, std::string_view name, const ReadContext& context,
               Part& into) {
    read_map(node, "`" + std::string{name} + "`", kConfigKeys<Part>, context, into);
}
template <HasConfigKeys Part>
void read_part(const YamlNode& node, std::string_view name, const ReadContext& context,
               std::optional<Part>& into) {
    read_part(node, name, context, into.emplace());
}

template <typename Options, typename Value, typename Form>
void read_key(const ConfigKey<Options, Value, Form>& key, const MapReader& map,
              const ReadContext& context, Options& into) {
    if (auto value = read_value({map, key.name, context}, key.form)) {
        into.*key.member = static_cast<Value>(*std::move(value));
    }
}
template <typename Options, typename Value>
void read_key(const ConfigKey<Options, Value, form::Own>& key, const MapReader& map,
              const ReadContext& context, Options& into) {
    read_own(map, key.name, context, into.*key.member);
}
template <typename Options, typename Part>
void read_key(const ConfigKey<Options, Part, form::Map>& key, const MapReader& map,
              const ReadContext& context, Options& into) {
    if (const YamlNode* node = map.find(key.name)) {
        read_part(*node, key.name, context, into.*key.member);
    }
}
template <typename Options, typename Part>
void read_key(const ConfigKey<Options, Part, form::Inline>& key, const MapReader& map,
              const ReadContext& context, Options& into) {
    for_each_key(kConfigKeys<Part>,
                 [&](const auto& row) { read_key(row, map, context, into.*key.member); });
}
template <typename Rows>
void read_key(const ConfigSection<Rows>& section, const MapReader& map, const ReadContext& context,
              auto& into) {
    if (const YamlNode* node = map.find(section.name)) {
        read_map(*node, "`" + std::string{section.name} + "`", section.rows, context, into);
    }
}
inline void read_key(const BareKey& key, const MapReader& map, const ReadContext&, auto&) {
    if (!key.words.empty()) {
        (void)map.word(key.name, key.words);
    }
}

}  // namespace sluice
