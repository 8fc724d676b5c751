#include "lib/policy/expression/operand.hpp"

#include "lib/packet/text_name.hpp"

namespace sluice {

std::optional<Field> find_field(std::string_view name) {
    for (const FieldRow& row : kFields) {
        if (row.name == name) {
            return row.field;
        }
    }
    return std::nullopt;
}

std::optional<TextField> find_text_field(std::string_view name) {
    for (const TextFieldRow& row : kTextFields) {
        if (row.name == name) {
            return row.field;
        }
    }
    return std::nullopt;
}

const std::vector<std::string_view>& field_names() {
    static const std::vector<std::string_view> all = [] {
        std::vector<std::string_view> names;
        names.reserve(kFields.size() + kTextFields.size() + kTextFamilies.size());
        for (const FieldRow& row : kFields) {
            if (row.field != Field::ProxiedClient) {
                names.push_back(row.name);
            }
        }
        for (const TextFieldRow& row : kTextFields) {
            names.push_back(row.name);
        }
        for (const TextFamily& family : kTextFamilies) {
            names.push_back(family.field);
        }
        return names;
    }();
    return all;
}

OperandKind operand_kind(FieldKind kind) noexcept {
    switch (kind) {
        case FieldKind::Number:
            return OperandKind::Number;
        case FieldKind::Flag:
            return OperandKind::Flag;
        case FieldKind::Address:
            return OperandKind::Address;
        case FieldKind::Mac:
            return OperandKind::Mac;
        case FieldKind::Country:
            return OperandKind::Country;
        default:
            return OperandKind::Name;
    }
}

OperandKind operand_kind(TextKind kind) noexcept {
    return kind == TextKind::Number ? OperandKind::Number : OperandKind::Text;
}

}  // namespace sluice
