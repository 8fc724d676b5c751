#pragma once
#include "lib/policy/expression/operand_parser.hpp"
#include "lib/policy/values/value_range.hpp"

#include <span>
#include <string_view>
#include <vector>

namespace sluice {

// The numbers that packets can have in a field whose range has gaps.
struct FieldValues {
    Field field{};
    std::span<const NumberRange> ranges;
    std::string_view text;  // the same in words: "4 or 6"
};

// nullptr: all numbers up to the field's largest.
[[nodiscard]] const FieldValues* find_field_values(Field field) noexcept;

// True if a packet can have one of the numbers, which are sorted.
[[nodiscard]] bool holds_any(const FieldValues& values,
                             std::span<const NumberRange> numbers) noexcept;

}  // namespace sluice
