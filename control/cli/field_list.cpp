#include "control/cli/field_list.hpp"

#include "lib/policy/box/tunnel_text.hpp"
#include "lib/policy/expression/operand_parser.hpp"
#include "lib/policy/problems/nearest.hpp"

#include <fmt/format.h>

#include <optional>

namespace sluice {
namespace {

constexpr std::size_t kLongestName = 64;

FieldFault fault_of(const std::string& name) {
    if (name.size() > kLongestName) {
        return {"no such field: the name is too long for any"};
    }
    return {fmt::format("no field '{}'{}", name, did_you_mean(name, field_names()))};
}

bool is_named_text(const std::string& name) {
    const std::string begin = name.substr(0, name.find_first_of("[("));
    return find_text_family(begin) || find_text_function(begin) != nullptr;
}

// path_prefix(http.request.uri.path,2) is one name.
std::vector<std::string> whole_names(const std::vector<std::string>& parts) {
    std::vector<std::string> names;
    for (const std::string& part : parts) {
        const bool is_open = !names.empty() && names.back().find('(') != std::string::npos &&
                             names.back().find(')') == std::string::npos;
        if (is_open) {
            names.back() += "," + part;
        } else {
            names.push_back(part);
        }
    }
    return names;
}

// http.request.headers["name"] or registrable_domain(http.host), as an expression has it.
std::variant<TextField, FieldFault> parse_named(const std::string& name, TextNames& names) {
    TokenReader reader{name, {.text_names = &names}};
    const std::optional<Operand> operand = parse_operand(reader);
    if (operand && reader.peek().kind != Token::Kind::End) {
        (void)reader.fail_here("the end of the field");
    }
    if (reader.error()) {
        return FieldFault{
            fmt::format("no field '{}': {}", name.substr(0, kLongestName), reader.error()->text)};
    }
    return *operand->text;
}

std::variant<ShownField, FieldFault> parse_shown_field(const std::string& name, TextNames& names) {
    if (is_named_text(name)) {
        const std::variant<TextField, FieldFault> named = parse_named(name, names);
        const auto* fault = std::get_if<FieldFault>(&named);
        return fault != nullptr ? std::variant<ShownField, FieldFault>{*fault}
                                : ShownField{std::get<TextField>(named)};
    }
    const std::optional<TextField> text = find_text_field(name);
    if (text) {
        return ShownField{*text};
    }
    const std::optional<Field> field = find_field(name);
    if (!field) {
        return fault_of(name);
    }
    if (is_from_database(*field)) {
        return FieldFault{
            fmt::format("field '{}' comes from a database, not from the frame; "
                        "`explain` shows it with a rule file that names one",
                        name)};
    }
    return ShownField{*field};
}

}  // namespace

std::variant<FieldList, FieldFault> parse_field_list(const std::vector<std::string>& names) {
    FieldList list;
    for (const std::string& name : whole_names(names)) {
        const std::variant<ShownField, FieldFault> field = parse_shown_field(name, list.text_names);
        if (const auto* fault = std::get_if<FieldFault>(&field)) {
            return *fault;
        }
        list.fields.push_back(std::get<ShownField>(field));
    }
    return list;
}

std::vector<std::string_view> shown_field_names() {
    std::vector<std::string_view> names;
    for (const FieldRow& row : kFields) {
        if (row.field != Field::ProxiedClient && !is_from_database(row.field)) {
            names.push_back(row.name);
        }
    }
    for (const TextFieldRow& row : kTextFields) {
        names.push_back(row.name);
    }
    return names;
}

std::vector<std::string_view> tunnel_choices() {
    std::vector<std::string_view> choices{"none"};
    for (const TunnelRow& row : kTunnels) {
        choices.push_back(row.name);
    }
    return choices;
}

std::variant<Tunnels, std::string> parse_tunnels(const std::vector<std::string>& names) {
    Tunnels tunnels;
    if (names.empty()) {
        for (const TunnelRow& row : kTunnels) {
            tunnels.*row.followed = true;
        }
        return tunnels;
    }
    if (names.size() == 1 && names.front() == "none") {
        return tunnels;
    }
    for (const std::string& name : names) {
        if (const std::optional<std::string> fault = add_tunnel(name, tunnels)) {
            return fmt::format("--tunnels is none or a list: {}", *fault);
        }
    }
    return tunnels;
}

}  // namespace sluice
