#pragma once
#include "lib/packet/field.hpp"
#include "lib/packet/text_field.hpp"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace sluice {

// The kinds of values on the left of a comparison or in a key.
enum class OperandKind : std::uint8_t { Number, Flag, Address, Mac, Name, Country, Text };

[[nodiscard]] std::optional<Field> find_field(std::string_view name);
[[nodiscard]] std::optional<TextField> find_text_field(std::string_view name);
// Every field name of the language, for suggestions.
[[nodiscard]] const std::vector<std::string_view>& field_names();
[[nodiscard]] OperandKind operand_kind(FieldKind kind) noexcept;
[[nodiscard]] OperandKind operand_kind(TextKind kind) noexcept;

}  // namespace sluice
