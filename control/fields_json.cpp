#include "control/fields_json.hpp"

#include "lib/packet/field.hpp"
#include "lib/packet/text_field.hpp"
#include "lib/packet/text_name.hpp"
#include "lib/policy/expression/comparison_parser.hpp"
#include "lib/policy/expression/number_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice {
namespace {

std::string number_text(std::uint64_t most, std::span<const NumberName> names) {
    // A name that says what it is: most have "udp" and "AAAA" in mind.
    constexpr auto kKnown = std::to_array<std::string_view>({"udp", "AAAA"});
    const auto is_known = [&](const NumberName& one) {
        return std::ranges::find(kKnown, one.name) != kKnown.end();
    };
    const auto known = std::ranges::find_if(names, is_known);
    const std::string number = fmt::format("a number from 0 to {}", most);
    return names.empty() ? number
                         : fmt::format("{}, or a name such as \"{}\"", number,
                                       known == names.end() ? names.front().name : known->name);
}

std::string values_of(const FieldRow& row) {
    switch (row.kind) {
        case FieldKind::Number:
            return number_text(row.max, names_of_numbers(row.field));
        case FieldKind::Flag:
            return "0 or 1";
        case FieldKind::Address:
            return "an address or network, such as 192.0.2.0/24 or 2001:db8::1";
        case FieldKind::Mac:
            return "a MAC address, such as 02:00:00:00:00:01";
        case FieldKind::Country:
            return R"(a code of two letters, such as "NL"; needs data: country_db)";
        default:
            break;
    }
    return row.field == Field::Dir      ? R"("in" or "out")"
           : row.field == Field::IpFrag ? R"("none", "first" or "later")"
                                        : R"(the name of a pair, such as "uplink")";
}

constexpr auto kKindWords =
    std::to_array<std::string_view>({"number", "flag", "address", "mac", "name", "country"});

// By the first part of its name.
int layer_of(std::string_view name) {
    constexpr auto kLayers = std::to_array<std::pair<std::string_view, int>>({{"eth", 2},
                                                                              {"vlan", 2},
                                                                              {"ip", 3},
                                                                              {"outer", 3},
                                                                              {"client", 3},
                                                                              {"l4", 4},
                                                                              {"tcp", 4},
                                                                              {"icmp", 4},
                                                                              {"payload", 4}});
    const std::string_view part = name.substr(0, name.find('.'));
    const auto row = std::ranges::find(kLayers, part, &std::pair<std::string_view, int>::first);
    return row == kLayers.end() ? 0 : row->second;
}

bool has_order(FieldKind kind) noexcept {
    return kind == FieldKind::Number || kind == FieldKind::Flag;
}

struct Known {
    std::string name;
    std::string values;
    std::string_view kind;
    std::vector<std::string_view> operators;
    int layer = 0;
};

Json known_json(const Known& known) {
    return {{"name", known.name},           {"values", known.values}, {"kind", known.kind},
            {"operators", known.operators}, {"layer", known.layer},   {"says", known.values}};
}

void add_headers(Json& list) {
    for (const FieldRow& row : kFields) {
        if (row.field != Field::ProxiedClient) {
            const bool by_number = row.kind == FieldKind::Number && is_from_database(row.field);
            list.push_back(known_json(
                {std::string{row.name}, values_of(row) + (by_number ? "; needs data: asn_db" : ""),
                 kKindWords[static_cast<std::size_t>(row.kind)],
                 comparison_words(false, has_order(row.kind)), layer_of(row.name)}));
        }
    }
}

void add_texts(Json& list) {
    constexpr int kLayer7 = 7;
    for (const TextFieldRow& row : kTextFields) {
        const bool is_number = row.kind == TextKind::Number;
        list.push_back(
            known_json({std::string{row.name},
                        is_number ? number_text(row.max, names_of_numbers(row.field))
                        : row.kind == TextKind::Folded ? "a text in small letters"
                                                       : "a text",
                        is_number ? "number" : "text", comparison_words(!is_number, is_number),
                        row.field == TextField::Payload ? 4 : kLayer7}));
    }
    for (const TextFamily& family : kTextFamilies) {
        list.push_back(known_json({std::string{family.field} + R"(["name"])", "a text", "text",
                                   comparison_words(true, false), kLayer7}));
    }
}

// Functions of fields, which stand where fields do.
void add_functions(Json& list) {
    list.push_back(known_json({"prefix(FIELD, 24|64)", "the network of an address", "address",
                               comparison_words(false, false), 3}));
    list.push_back(known_json(
        {"lower(FIELD)", "a text in small letters", "text", comparison_words(true, false), 7}));
    for (const TextFunction& function : kTextFunctions) {
        const bool counts = function.kind == TextName::Kind::PathPrefix;
        list.push_back(known_json({std::string{function.name} + (counts ? "(FIELD, N)" : "(FIELD)"),
                                   "a text made of " + std::string{function.takes}, "text",
                                   comparison_words(true, false), 7}));
    }
}

}  // namespace

Json fields_json() {
    Json list = Json::array();
    add_headers(list);
    add_texts(list);
    add_functions(list);
    return list;
}

}  // namespace sluice
