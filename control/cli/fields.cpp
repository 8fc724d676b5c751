#include "control/cli/commands.hpp"
#include "control/cli/table.hpp"
#include "control/cli/terminal.hpp"
#include "control/json.hpp"
#include "lib/packet/field.hpp"
#include "lib/packet/text_field.hpp"
#include "lib/packet/text_name.hpp"
#include "lib/policy/expression/number_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// fields: the tables that the compiler of rules reads, for people and for editors.
namespace sluice {
namespace {

struct Known {
    std::string name;
    std::string values;
};

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

std::vector<Known> all_fields() {
    std::vector<Known> known;
    for (const FieldRow& row : kFields) {
        if (row.field != Field::ProxiedClient) {
            const bool by_number = row.kind == FieldKind::Number && is_from_database(row.field);
            known.push_back({std::string{row.name},
                             values_of(row) + (by_number ? "; needs data: asn_db" : "")});
        }
    }
    for (const TextFieldRow& row : kTextFields) {
        known.push_back(
            {std::string{row.name}, row.kind == TextKind::Number
                                        ? number_text(row.max, names_of_numbers(row.field))
                                    : row.kind == TextKind::Folded ? "a text in small letters"
                                                                   : "a text"});
    }
    for (const TextFamily& family : kTextFamilies) {
        known.push_back({std::string{family.field} + R"(["name"])", "a text"});
    }
    known.push_back({"prefix(FIELD, 24|64)", "the network of an address"});
    known.push_back({"lower(FIELD)", "a text in small letters"});
    for (const TextFunction& function : kTextFunctions) {
        const bool counts = function.kind == TextName::Kind::PathPrefix;
        known.push_back({std::string{function.name} + (counts ? "(FIELD, N)" : "(FIELD)"),
                         "a text made of " + std::string{function.takes}});
    }
    return known;
}

}  // namespace

ExitCode run_fields(const Options& options) {
    Table table{{{"FIELD"}, {"VALUES"}}};
    Json list = Json::array();
    for (const Known& one : all_fields()) {
        table.row({one.name, one.values});
        list.push_back({{"name", one.name}, {"values", one.values}});
    }
    print(options.json ? dump_line({{"fields", std::move(list)}}) : table.text());
    return ExitCode::Done;
}

}  // namespace sluice
