#pragma once
#include "lib/policy/expression/operand.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace sluice {

// A number that has a name too, which stands in quotes; some have two.
struct NumberName {
    std::string_view name;
    std::uint64_t number;
};

// The names for the values of a field of numbers; none: its numbers have no names.
[[nodiscard]] std::span<const NumberName> names_of_numbers(Field field) noexcept;
[[nodiscard]] std::span<const NumberName> names_of_numbers(TextField field) noexcept;

// The row of a name, whatever the case of its letters; nullptr: there is none.
[[nodiscard]] const NumberName* find_number_name(std::span<const NumberName> names,
                                                 std::string_view name);

}  // namespace sluice
