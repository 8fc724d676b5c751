#pragma once
#include "lib/packet/field.hpp"
#include "lib/packet/text_field.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace sluice {

// What can stand on the left of a comparison or in a key.
enum class OperandKind : std::uint8_t { Number, Flag, Address, Mac, Name, Country, Text };

// Fields of the language that no parser fills yet. Moving one to kFields builds it.
struct UnsupportedField {
    std::string_view name;
    OperandKind kind;
};
inline constexpr auto kUnsupportedFields = std::to_array<UnsupportedField>({
    {"http.request.headers", OperandKind::Text},  // ["name"]
    {"http.cookies", OperandKind::Text},          // ["name"]
});

[[nodiscard]] std::optional<Field> find_field(std::string_view name);
[[nodiscard]] std::optional<TextField> find_text_field(std::string_view name);
[[nodiscard]] const UnsupportedField* find_unsupported_field(std::string_view name);
[[nodiscard]] constexpr bool takes_a_name(std::string_view field) noexcept {
    return field == "http.request.headers" || field == "http.cookies";
}
// Every field name of the language, for suggestions.
[[nodiscard]] const std::vector<std::string_view>& field_names();
[[nodiscard]] OperandKind operand_kind(FieldKind kind) noexcept;
[[nodiscard]] OperandKind operand_kind(TextKind kind) noexcept;

}  // namespace sluice
