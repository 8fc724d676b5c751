#include "control/cli/field_list.hpp"

#include "lib/policy/expression/operand.hpp"
#include "lib/policy/problems/nearest.hpp"

#include <fmt/format.h>

#include <optional>

namespace sluice {
namespace {

constexpr std::size_t kLongestName = 64;

// Fields of the language that frames are not parsed for yet; some take a name in brackets.
bool is_unsupported_field(std::string_view name) {
    const std::string_view family = name.substr(0, name.find('['));
    return name == row_of(TextField::Payload).name ||
           ((family == name || takes_a_name(family)) && find_unsupported_field(family) != nullptr);
}

FieldFault fault_of(const std::string& name) {
    if (is_unsupported_field(name)) {
        return {true, fmt::format("field '{}' is not built yet", name)};
    }
    if (name.size() > kLongestName) {
        return {false, "no such field: the name is too long for any"};
    }
    return {false, fmt::format("no field '{}'{}", name, did_you_mean(name, field_names()))};
}

}  // namespace

std::variant<std::vector<ShownField>, FieldFault> parse_field_list(
    const std::vector<std::string>& names) {
    std::vector<ShownField> fields;
    for (const std::string& name : names) {
        const std::optional<TextField> text = find_text_field(name);
        if (text && is_of_unit(*text)) {
            fields.emplace_back(*text);
            continue;
        }
        const std::optional<Field> field = find_field(name);
        if (!field) {
            return fault_of(name);
        }
        if (is_from_database(*field)) {
            return FieldFault{false, fmt::format("field '{}' comes from a database, not from the "
                                                 "frame; `explain` shows it with a rule file that "
                                                 "names one",
                                                 name)};
        }
        fields.emplace_back(*field);
    }
    return fields;
}

std::variant<Tunnels, std::string> parse_tunnels(const std::vector<std::string>& names) {
    if (names.empty()) {
        return Tunnels{true, true, true};
    }
    Tunnels tunnels;
    if (names.size() == 1 && names.front() == "none") {
        return tunnels;
    }
    for (const std::string& name : names) {
        if (name == "gre") {
            tunnels.gre = true;
        } else if (name == "vxlan") {
            tunnels.vxlan = true;
        } else if (name == "ipip") {
            tunnels.ipip = true;
        } else {
            return fmt::format("no tunnel '{}'; give none, or a list of gre, vxlan, ipip", name);
        }
    }
    return tunnels;
}

}  // namespace sluice
